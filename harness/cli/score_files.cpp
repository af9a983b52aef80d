#include "harness/cli/score_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "datasets/readers/catalog.h"
#include "harness/cli/catalogs.h"
#include "harness/cli/output.h"
#include "harness/core/log.h"

namespace qfs::cli {
namespace {

/// Whether a file lies in the folder of a data set that is given as NAME[:split[:view]].
bool is_of_dataset(const std::filesystem::path& file, const std::string& dataset) {
  if (dataset.empty()) return false;
  const datasets::CatalogOptions catalog = datasets::default_catalog_options();
  std::vector<std::string> folders = {catalog.program_folder};  // of the bundled ones
  for (const std::string& root : catalog.roots) {
    folders.push_back(root + "/" + dataset.substr(0, dataset.find(':')));
  }
  std::error_code ignored;  // a folder that is not there holds nothing
  for (auto own = std::filesystem::canonical(file, ignored).parent_path(); own.has_relative_path();
       own = own.parent_path()) {
    for (const std::string& folder : folders) {
      if (std::filesystem::equivalent(folder, own, ignored)) return true;
    }
  }
  return false;
}

/// The rows of --per-example must not replace what they are made of.
Status keeps_inputs(const ScoreFilesOptions& options) {
  std::error_code ignored;  // of a file that does not exist yet
  if (!std::filesystem::is_regular_file(options.per_example, ignored)) return {};
  if (is_of_dataset(options.per_example, options.references_dataset)) {
    return invalid_argument(fmt::format(
        "--per-example '{}' is a file of the data set '{}', and would be lost: write to "
        "another file",
        options.per_example, options.references_dataset));
  }
  std::vector<std::string> inputs = options.references;
  inputs.insert(inputs.end(), {options.records, options.predictions});
  return keep_inputs("--per-example", options.per_example, inputs);
}

}  // namespace

Result<ExitCode> run_score_files(const ScoreFilesOptions& options, const GlobalOptions& global) {
  if (Status kept = keeps_inputs(options); !kept) return kept.error();
  log_info("scoring files of predictions; no store is used");
  Catalogs catalogs;
  catalogs.set_metric_threads(options.threads);
  Result<score::FileScores> scores =
      score::score_files(options, catalogs.datasets(), catalogs.metrics());
  if (!scores) return scores.error();
  for (const std::string& warning : scores->warnings) log_warning(warning);
  if (!options.per_example.empty()) {
    if (Status written = write_per_example(*scores, options.per_example); !written) {
      return written.error();
    }
    if (options.per_example == "-") return ExitCode::ok;  // the table would follow the lines
  }
  const std::string text =
      global.json ? scores_json(*scores) : scores_text(*scores, options.signature == "long");
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace qfs::cli
