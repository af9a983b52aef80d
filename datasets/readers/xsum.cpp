// XSum (Narayan et al., EMNLP 2018) as its authors' scripts leave it: a file an article, with
// sections "[SN]NAME[SN]", and the file that says which articles make a split.
#include <nlohmann/json.hpp>

#include "datasets/readers/file_set.h"
#include "datasets/readers/json_lines.h"
#include "datasets/segments.h"
#include "datasets/text_lines.h"

namespace qfs::datasets {
namespace {

constexpr std::string_view kXsumSplits = "XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json";

/// The lines between the heading of a section and the next one, without blank lines around.
Result<std::string_view> xsum_section(std::string_view text, const std::string& name,
                                      const std::string& path) {
  const std::string heading = "[SN]" + name + "[SN]";
  const size_t at = text.find(heading);
  if (at == std::string_view::npos) {
    return data_error("no section " + heading, path);
  }
  if (at > 0 && text[at - 1] != '\n') {
    return data_error(heading + " does not begin a line", line_place(text, at, path));
  }
  const size_t twice = text.find(heading, at + 1);
  if (twice != std::string_view::npos) {
    return data_error(heading + " is there twice", line_place(text, twice, path));
  }
  std::string_view body = text.substr(at + heading.size());
  body = body.substr(0, body.find("\n[SN]"));
  const size_t first = body.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return data_error("the section " + heading + " is empty", line_place(text, at, path));
  }
  return body.substr(first, body.find_last_not_of(" \t\r\n") + 1 - first);
}

Result<Example> decode_article(const LoadedFile& file, const std::string& id) {
  Result<std::string_view> summary = xsum_section(file.bytes, "FIRST-SENTENCE", file.path);
  if (!summary) return summary.error();
  Result<std::string_view> body = xsum_section(file.bytes, "RESTBODY", file.path);
  if (!body) return body.error();
  Example example;
  example.key = id;
  example.language = "en";
  example.document = split_document(*body);
  example.references = {std::string(*summary)};
  return example;
}

/// Ids are names of files, which stay in their folder.
bool is_article_id(std::string_view id) {
  return !id.empty() && id.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<std::vector<Example>> read_xsum(SetFiles& files, const DatasetRequest& request) {
  Result<LoadedFile> splits = files.load(std::string(kXsumSplits));
  if (!splits) return splits.error();
  Result<nlohmann::json> root = parse_json(splits->bytes, splits->path);
  if (!root) return root.error();
  const std::string name = request.split == "val" ? "validation" : request.split;
  const JsonPlace place{splits->path, ""};
  Result<std::vector<std::string>> ids = texts_member(*root, name, place);
  if (!ids) return ids.error();
  KeyedExamples examples;
  for (const std::string& id : *ids) {
    const JsonPlace here = place / name / examples.size();
    if (!is_article_id(id)) {
      return data_error("expected the number of an article, found '" + id + "'", here.to_string());
    }
    Result<LoadedFile> file = files.load("bbc-summary-data/" + id + ".summary");
    if (!file) return file.error();
    Result<Example> example = decode_article(*file, id);
    if (!example) return example.error();
    Status added = examples.add(*std::move(example), here);
    if (!added) return added.error();
  }
  return examples.take();
}

}  // namespace

std::vector<FileSet> xsum_sets() {
  return {{.info = {.name = "xsum",
                    .doc = "BBC articles and their first sentences, without queries",
                    .licence = "MIT; texts: BBC",
                    .splits = {"test", "train", "val"},
                    .views = {"whole"},
                    .text_forms = {"raw"}},
           .reader = "xsum@1",
           .examples = read_xsum,
           .folder = "xsum",
           .layout = "bbc-summary-data/ID.summary and " + std::string(kXsumSplits),
           .source = "https://github.com/EdinburghNLP/XSum",
           .no_redistribution = true}};
}

}  // namespace qfs::datasets
