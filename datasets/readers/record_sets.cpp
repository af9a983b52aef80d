// Published sets that a field map can read: each is a row that says which file, which fields.
#include <nlohmann/json.hpp>

#include "datasets/readers/csv.h"
#include "datasets/readers/file_set.h"
#include "datasets/readers/json_lines.h"
#include "datasets/readers/record.h"

namespace qfs::datasets {
namespace {

using Fields = std::map<std::string, std::string>;

/// Records of a split, through a complete field map.
Result<std::vector<Example>> read_records(SetFiles& files, const std::string& path,
                                          const Fields& names) {
  Result<FieldMap> fields = make_field_map(names);
  if (!fields) return fields.error();
  int64_t number = 0;
  return read_lines(files, path, [&](const nlohmann::json& record, const JsonPlace& place) {
    return decode_record(record, *fields, ++number, place);
  });
}

Result<std::vector<Example>> read_dialogsum(SetFiles& files, const DatasetRequest& request) {
  Fields fields = {
      {"id", "fname"}, {"document", "dialogue"}, {"query", ""}, {"references", "summary"}};
  std::string part = request.split;
  if (part == "test") fields["references"] = "summary1,summary2,summary3";
  if (part == "hiddentest") {
    fields["references"] = "";
    part += ".dialogue";
  }
  return read_records(files, "DialogSum_Data/dialogsum." + part + ".jsonl", fields);
}

/// Titles of abstracts: TSV without header, the first column is the task's prompt.
Result<std::vector<Example>> read_csl(SetFiles& files, const DatasetRequest& request) {
  Result<LoadedFile> file = files.load("benchmark/ts/" + request.split + ".tsv");
  if (!file) return file.error();
  Result<CsvTable> table = parse_tsv(file->bytes, file->path, {"prompt", "abstract", "title"});
  if (!table) return table.error();
  Result<FieldMap> fields = make_field_map(
      {{"document", "abstract"}, {"query", ""}, {"references", "title"}, {"language", "=zh"}});
  if (!fields) return fields.error();
  KeyedExamples examples;
  for (CsvRow& row : table->rows) {
    const JsonPlace place{file->path + ":" + std::to_string(row.line), ""};
    Result<Example> example =
        decode_record(row_object(table->header, row), *fields, row.line, place);
    if (!example) return example.error();
    Status added = examples.add(*std::move(example), place);
    if (!added) return added.error();
  }
  return examples.take();
}

/// Indictments and verdicts, which their authors do not give out.
Result<std::vector<Example>> read_clcv(SetFiles& files, const DatasetRequest& request) {
  return read_records(
      files, request.split + ".jsonl",
      {{"document", "indictment"}, {"query", ""}, {"references", "judgment"}, {"language", "=zh"}});
}

}  // namespace

std::vector<FileSet> record_sets() {
  return {{.info = {.name = "clcv",
                    .doc = "Chinese indictments and the verdicts on them, without queries",
                    .licence = "none stated",
                    .splits = {"test", "train", "dev"},
                    .views = {"whole"},
                    .text_forms = {"raw"}},
           .reader = "clcv@1",
           .examples = read_clcv,
           .folder = "clcv",
           .layout = "SPLIT.jsonl with \"indictment\" and \"judgment\"",
           .source = "its authors (Gao et al. 2024, arXiv 2405.17052)"},
          {.info = {.name = "dialogsum",
                    .doc = "everyday dialogues, three references each in test",
                    .licence = "CC BY-NC-SA 4.0",
                    .splits = {"test", "dev", "hiddentest"},
                    .views = {"whole", "per_reference"},
                    .text_forms = {"raw"}},
           .reader = "dialogsum@1",
           .examples = read_dialogsum},
          {.info = {.name = "csl",
                    .doc = "Chinese abstracts and their titles, without queries",
                    .licence = "Apache-2.0",
                    .splits = {"test", "dev"},
                    .views = {"whole"},
                    .text_forms = {"raw"}},
           .reader = "csl@1",
           .examples = read_csl}};
}

}  // namespace qfs::datasets
