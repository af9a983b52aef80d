#include "harness/cli/run_conclusion.h"

#include <fmt/format.h>

#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "harness/run/signals.h"

namespace qfs::cli {

ExitCode conclusion(const plan::Plan& plan, const run::RunSummary& summary) {
  if (summary.conflicts > 0) {
    log_warning(fmt::format("{} not reproduced when computed again; 'doctor' lists them",
                            counted(summary.conflicts, "output was", "outputs were")));
  }
  const bool timed = summary.timings_failed == 0 && summary.timings_left == 0;
  if (summary.failed == 0 && summary.incomplete == 0 && timed && plan.undescribed.empty()) {
    return ExitCode::ok;
  }
  if (!plan.undescribed.empty()) {
    log_warning(counted(plan.undescribed.size(), "method has", "methods have") +
                " no cells: what was said above of programs that did not describe themselves");
  }
  std::string retry;
  for (const store::FailureKind kind : summary.failures) {
    retry += fmt::format(" --retry {}", store::to_string(kind));
  }
  if (summary.trainings_failed > 0) {
    log_warning(fmt::format("{} failed, and cells wait for it: run again with{} to try once more",
                            counted(summary.trainings_failed, "training"), retry));
  }
  if (summary.incomplete > 0 && summary.trainings_failed == 0) {
    log_warning(counted(summary.incomplete, "cell is", "cells are") +
                " incomplete: run the same command again to continue");
  }
  if (summary.failed > 0) {
    log_warning(fmt::format("{} failed, which is a result: run again with{} to try once more",
                            counted(summary.failed, "cell"), retry));
  }
  if (summary.timings_failed > 0) {
    log_warning(fmt::format("the timing of {} failed: run again with{} to try once more",
                            counted(summary.timings_failed, "cell"), retry));
  }
  if (summary.timings_left > 0) {
    log_warning(fmt::format("{} not timed: run the same command again to continue",
                            counted(summary.timings_left, "cell is", "cells are")));
  }
  return ExitCode::incomplete;
}

ExitCode interrupted(const run::RunSummary& summary, const std::string& store_path) {
  log_warning(
      fmt::format("stopped by {}; what is done is in {}: run the same command again to continue",
                  run::signal_name(summary.interrupted_by), store_path));
  return exit_code_of_signal(summary.interrupted_by);
}

}  // namespace qfs::cli
