#include "harness/cli/report_metrics.h"

#include <optional>
#include <utility>

#include "harness/cli/scoring.h"

namespace qfs::cli {

Result<std::vector<reports::MetricChoice>> metrics_of_sweep(const reports::SweepFacts& facts,
                                                            const MetricCatalog& catalog) {
  const auto names = metric_names_of_sweep(facts.sweep);
  if (!names) return names.error();
  const Result<Postprocess> postprocess = postprocess_of_sweep(facts.sweep);
  if (!postprocess) return postprocess.error();
  std::vector<reports::MetricChoice> choices;
  for (const std::string& name : *names) {
    const Result<std::shared_ptr<const Metric>> metric = catalog.make(name);
    if (metric) {
      choices.push_back({name, score::scored_signature(**metric, postprocess->chain()),
                         (*metric)->columns(), *metric});
    } else if (auto stored = stored_metric(name, facts)) {
      choices.push_back(*std::move(stored));
    }
  }
  return choices;
}

Result<reports::MetricChoice> stored_metric(const std::string& name,
                                            const reports::SweepFacts& facts) {
  std::optional<reports::MetricChoice> choice;
  for (const reports::PlaceFacts& place : facts.places) {
    for (const store::ScoreJobRow& job : place.scores) {
      if (job.metric != name) continue;
      if (choice && choice->signature != job.signature) {
        return invalid_argument("the store has '" + name +
                                "' from several imports: " + choice->signature + " and " +
                                job.signature + "; one import of all files gives one");
      }
      choice = reports::MetricChoice{name, job.signature, job.columns};
    }
  }
  if (!choice) return not_found("the store has no score of the metric '" + name + "'");
  return *std::move(choice);
}

}  // namespace qfs::cli
