#include "harness/cli/run_scores.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <variant>

#include "harness/cli/cell_names.h"
#include "harness/core/log.h"

namespace qfs::cli {

Result<RunScores> score_run(const plan::Plan& plan, store::Store& store, store::Reader& reader,
                            const run::RunSummary& summary) {
  const CellNames names(plan);
  RunScores scores;
  std::vector<store::ResultId> results;
  for (size_t i = 0; i < summary.results.size(); ++i) {
    if (!summary.results[i].predict) continue;
    results.push_back(*summary.results[i].predict);
    scores.results.push_back({results.back(), names.of(plan.cells[i])});
  }
  score::Scorer scorer(store, reader);
  for (const plan::PlannedDataset& dataset : plan.datasets) {
    if (Status used = scorer.use_dataset(dataset.data); !used) return used.error();
  }
  std::vector<std::string> steps;
  for (const NamedValue& step : plan.experiment.postprocess) {
    steps.push_back(std::get<std::string>(step.value));
  }
  const Result<Postprocess> postprocess = Postprocess::parse(steps);
  if (!postprocess) return postprocess.error();
  scores.postprocess = postprocess->chain();
  Result<ScoringSummary> scored = score_results(scorer, *postprocess, results, plan.metrics);
  if (!scored) return scored.error();
  scores.summary = *std::move(scored);
  log_detail(fmt::format("scores: {} computed, {} kept, {} waiting for predictions",
                         scores.summary.scored, scores.summary.kept, scores.summary.incomplete));
  return scores;
}

}  // namespace qfs::cli
