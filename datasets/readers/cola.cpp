// CoLA 1.1 (Warstadt et al., TACL 2019), the public part: a sentence and whether linguists accept
// it. TSV without header: source, label, mark, sentence.
#include <nlohmann/json.hpp>

#include "datasets/readers/csv.h"
#include "datasets/readers/file_set.h"
#include "datasets/readers/keyed_examples.h"

namespace qfs::datasets {
namespace {

Status add_sentences(const LoadedFile& file, const std::string& part, KeyedExamples& examples) {
  Result<CsvTable> table =
      parse_tsv(file.bytes, file.path, {"source", "label", "mark", "sentence"});
  if (!table) return table.error();
  for (CsvRow& row : table->rows) {
    const std::string line = std::to_string(row.line);
    const JsonPlace place{file.path + ":" + line, ""};
    const std::string& label = row.cells[1];
    if (label != "0" && label != "1") {
      return data_error(
          "the label must be 0 (unacceptable) or 1 (acceptable), found '" + label + "'",
          place.to_string());
    }
    Example example;
    example.key = part + "-" + line;
    example.language = "en";
    example.document = {{row.cells[3], ""}};
    example.references = {label == "1" ? "acceptable" : "unacceptable"};
    example.extra.text = nlohmann::json{{"mark", row.cells[2]}, {"source", row.cells[0]}}.dump();
    Status added = examples.add(std::move(example), place);
    if (!added) return added;
  }
  return {};
}

std::vector<std::string> parts_of(const std::string& split) {
  if (split == "dev") return {"in_domain_dev", "out_of_domain_dev"};
  return {split == "train" ? "in_domain_train" : split};
}

Result<std::vector<Example>> read_cola(SetFiles& files, const DatasetRequest& request) {
  KeyedExamples examples;
  for (const std::string& part : parts_of(request.split)) {
    Result<LoadedFile> file = files.load("cola_public/raw/" + part + ".tsv");
    if (!file) return file.error();
    Status added = add_sentences(*file, part, examples);
    if (!added) return added.error();
  }
  return examples.take();
}

}  // namespace

std::vector<FileSet> cola_sets() {
  return {{.info = {.name = "cola",
                    .doc = "sentences that are acceptable or unacceptable; dev is both domains",
                    .licence = "none stated; for research",
                    .splits = {"dev", "train", "in_domain_dev", "out_of_domain_dev"},
                    .views = {"whole"},
                    .text_forms = {"raw"}},
           .reader = "cola@1",
           .examples = read_cola}};
}

}  // namespace qfs::datasets
