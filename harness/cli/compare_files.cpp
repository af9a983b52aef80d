#include "harness/cli/compare_files.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/cli/store_path.h"
#include "harness/compare/compare_items.h"
#include "harness/core/log.h"

namespace qfs::cli {
namespace {

bool has_ending(std::string_view path, std::initializer_list<std::string_view> endings) {
  for (std::string_view packed : {".gz", ".zst"}) {
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  }
  return std::ranges::any_of(endings, [&](std::string_view end) { return path.ends_with(end); });
}

ScoreFilesOptions with_file(ScoreFilesOptions options, const std::string& file) {
  const bool records = !options.from.empty() || !options.fields.empty() || file == "-" ||
                       has_ending(file, {".json", ".jsonl", ".ndjson"});
  (records ? options.records : options.predictions) = file;
  return options;
}

compare::MeasuredItems measured_items(std::string name, score::MeasuredFiles files) {
  compare::MeasuredItems items;
  items.name = std::move(name);
  items.empty = std::move(files.items.empty_texts);
  items.ids = std::move(files.items.ids);
  items.clusters = std::move(files.items.clusters);
  items.reference_hashes = std::move(files.items.reference_hashes);
  items.unit = files.items.unit;
  items.postprocess = files.items.postprocess;
  items.metrics = std::move(files.names);
  items.scores = std::move(files.scores);
  return items;
}

Result<score::MeasuredFiles> measured(const ScoreFilesOptions& common, const std::string& file,
                                      Catalogs& catalogs) {
  auto files =
      score::measure_files(with_file(common, file), catalogs.datasets(), catalogs.metrics());
  if (!files) return files.error();
  for (const std::string& warning : files->warnings) log_warning(warning);
  return files;
}

}  // namespace

bool is_prediction_file(const std::string& argument) {
  if (argument == "-") return true;
  std::error_code ignored;
  if (std::filesystem::exists(argument, ignored)) {
    return !std::filesystem::is_directory(argument, ignored) && !is_store_file(argument);
  }
  return has_ending(argument, {".json", ".jsonl", ".ndjson", ".txt"});
}

Result<compare::Outcome> compare_files(const std::string& a, const std::string& b,
                                       const ScoreFilesOptions& common,
                                       const compare::Request& request) {
  if (a == "-" && b == "-") {
    return invalid_argument("standard input ('-') can be read once only");
  }
  Catalogs catalogs;
  catalogs.set_metric_threads(common.threads);
  Result<score::MeasuredFiles> first = measured(common, a, catalogs);
  if (!first) return first.error();
  Result<score::MeasuredFiles> second = measured(common, b, catalogs);
  if (!second) return second.error();
  return compare::compare_items(measured_items(a, *std::move(first)),
                                measured_items(b, *std::move(second)), request);
}

}  // namespace qfs::cli
