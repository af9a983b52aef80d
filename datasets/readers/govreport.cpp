// GovReport (Huang et al., NAACL 2021) in the two forms that people pass on: a report and its
// summary a line of SPLIT.source and SPLIT.target, or JSON lines with "report" and "summary".
#include <nlohmann/json.hpp>

#include "datasets/readers/file_set.h"
#include "datasets/readers/json_lines.h"
#include "datasets/segments.h"

namespace qfs::datasets {
namespace {

/// Of a report that DYLE's release trains with or scores.
constexpr size_t kFewestPieces = 10;

Example govreport_example(const std::string& key, std::string_view report, std::string summary) {
  Example example;
  example.key = key;
  example.language = "en";
  example.document = split_document(report);
  example.references = {std::move(summary)};
  return example;
}

/// All lines, blank ones too: a line's number is what pairs it.
std::vector<std::string_view> aligned_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Result<std::vector<Example>> read_aligned(SetFiles& files, const std::string& stem,
                                          const std::string& split) {
  Result<LoadedFile> source = files.load(stem + ".source");
  if (!source) return source.error();
  Result<LoadedFile> target = files.load(stem + ".target");
  if (!target) return target.error();
  const std::vector<std::string_view> reports = aligned_lines(source->bytes);
  const std::vector<std::string_view> summaries = aligned_lines(target->bytes);
  if (reports.size() != summaries.size()) {
    const bool more = reports.size() > summaries.size();
    const LoadedFile& longer = more ? *source : *target;
    const LoadedFile& shorter = more ? *target : *source;
    const size_t pairs = std::min(reports.size(), summaries.size());
    return data_error("nothing belongs to this line: " + shorter.path + " has " +
                          std::to_string(pairs) + " lines",
                      longer.path + ":" + std::to_string(pairs + 1));
  }
  KeyedExamples examples;
  for (size_t i = 0; i < reports.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    for (const auto& [file, line] : {std::pair{&*source, reports[i]}, {&*target, summaries[i]}}) {
      if (line.find_first_not_of(" \t") != std::string_view::npos) continue;
      return data_error("an empty line where a text is expected", file->path + ":" + number);
    }
    Status added =
        examples.add(govreport_example(split + "-" + number, reports[i], std::string(summaries[i])),
                     {source->path + ":" + number, ""});
    if (!added) return added.error();
  }
  return examples.take();
}

Result<std::vector<Example>> read_report_lines(SetFiles& files, const std::string& path,
                                               const std::string& split) {
  int64_t number = 0;
  return read_lines(files, path,
                    [&](const nlohmann::json& value, const JsonPlace& place) -> Result<Example> {
                      Result<std::string> report = text_member(value, "report", place);
                      if (!report) return report.error();
                      Result<std::string> summary = text_member(value, "summary", place);
                      if (!summary) return summary.error();
                      std::string key = split + "-" + std::to_string(++number);
                      if (value.contains("id")) {
                        Result<std::string> id = text_member(value, "id", place);
                        if (!id) return id.error();
                        key = *std::move(id);
                      }
                      return govreport_example(key, *report, *std::move(summary));
                    });
}

/// The one form of a split that is there; people call validation by three names.
Result<std::vector<Example>> read_govreport(SetFiles& files, const DatasetRequest& request) {
  std::vector<std::string> stems = {request.split};
  if (request.split == "val") stems.insert(stems.end(), {"valid", "validation"});
  std::vector<std::string> found;
  for (const std::string& stem : stems) {
    for (const std::string_view ending : {".source", ".jsonl", ".jsonl.gz"}) {
      Result<std::vector<std::string>> paths = files.matching(stem + std::string(ending));
      if (!paths) return paths.error();
      found.insert(found.end(), paths->begin(), paths->end());
    }
  }
  if (found.size() > 1) {
    return data_error("the split '" + request.split + "' is there twice, as " + found[0] + " and " +
                      found[1] + "; keep one");
  }
  // Loading the absent file says what is expected.
  const std::string path = found.empty() ? request.split + ".source" : found.front();
  if (!path.ends_with(".source")) return read_report_lines(files, path, request.split);
  return read_aligned(files, path.substr(0, path.size() - std::string_view(".source").size()),
                      request.split);
}

}  // namespace

std::vector<FileSet> govreport_sets() {
  return {{.info = {.name = "govreport",
                    .doc = "reports of US government offices and their summaries, without queries",
                    .licence = "none stated; texts: US government works",
                    .splits = {"test", "train", "val"},
                    .views = {"whole"},
                    .text_forms = {"raw", "dyle"}},
           .reader = "govreport@1",
           .examples = read_govreport,
           .folder = "govreport",
           .layout = "SPLIT.source and SPLIT.target with a text a line, or SPLIT.jsonl with "
                     "\"report\" and \"summary\"",
           .source = "https://gov-report-data.github.io",
           .left_out = [](const Example&, const Example& report) {
             return report.document.size() < kFewestPieces;
           }}};
}

}  // namespace qfs::datasets
