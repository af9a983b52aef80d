#include "harness/cli/score_analyses.h"

#include <algorithm>

#include "harness/cli/analysis_text.h"
#include "harness/cli/catalogs.h"
#include "harness/cli/output.h"
#include "harness/score/file_analyses.h"

namespace qfs::cli {

Result<ExitCode> run_match(const ScoreFilesOptions& options, const std::string& targets,
                           const GlobalOptions& global) {
  Catalogs catalogs;
  catalogs.set_metric_threads(options.threads);
  const auto reports =
      score::match_files(options, targets, catalogs.datasets(), catalogs.metrics());
  if (!reports) return reports.error();
  Status printed = print_result(global.json ? match_json(*reports) : match_text(*reports));
  if (!printed) return printed.error();
  const bool all_found = std::ranges::none_of(
      *reports, [](const score::MatchReport& report) { return report.matching().empty(); });
  return all_found ? ExitCode::ok : ExitCode::regression;
}

Result<ExitCode> run_explain_diff(const ScoreFilesOptions& options,
                                  const std::vector<std::string>& signatures,
                                  const GlobalOptions& global) {
  if (!options.postprocess.empty()) {
    return invalid_argument("--postprocess does not go with --explain-diff: a signature says it");
  }
  Catalogs catalogs;
  const auto explained =
      score::explain_files(options, signatures, catalogs.datasets(), catalogs.metrics());
  if (!explained) return explained.error();
  Status printed = print_result(global.json ? explain_json(*explained) : explain_text(*explained));
  if (!printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace qfs::cli
