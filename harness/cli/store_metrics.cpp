#include "harness/cli/store_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/cli/scoring.h"
#include "harness/config/stored_metrics.h"
#include "harness/run/external_metric.h"

namespace qfs::cli {
namespace {

std::string command_text(const ExternalMetricEntry& entry) {
  return fmt::format("{}", fmt::join(entry.external.command, " "));
}

/// Predict results of the sweep without a whole score by the metric of this name.
int64_t unscored(const reports::SweepFacts& facts, const std::string& name) {
  int64_t count = 0;
  std::set<int64_t> seen;
  for (const reports::PlaceFacts& place : facts.places) {
    if (!place.predict || !seen.insert(place.predict->id.value).second) continue;
    const bool scored = std::ranges::any_of(place.scores, [&](const store::ScoreJobRow& job) {
      return job.metric == name && job.n == job.expected;
    });
    if (!scored) ++count;
  }
  return count;
}

/// The external metrics among `names`, started and described, over `base`.
Result<run::MetricsWithExternal> with_external(const MetricCatalog& base,
                                               config::StoredExternalMetrics stored,
                                               const std::set<std::string>& names,
                                               const StoreMetricsRequest& request) {
  Experiment experiment;
  experiment.path = request.store;
  experiment.limits = stored.limits;
  for (ExternalMetricEntry& entry : stored.entries) {
    if (!names.contains(entry.name)) continue;
    experiment.metrics.push_back({entry.name, entry.name, entry.pointer});
    experiment.external_metrics.push_back(std::move(entry));
  }
  auto catalog = run::MetricsWithExternal::make(base, experiment);
  if (catalog || catalog.error().kind != ErrorKind::not_found) return catalog;
  Error error = catalog.error();
  error.message += fmt::format(
      "; a store does not know where its sweep file was, so programs are looked for from '{}': "
      "--external-folder names the sweep file's folder",
      request.folder);
  return error;
}

}  // namespace

Result<StoreMetrics> store_metrics(const StoreMetricsRequest& request,
                                   const reports::SweepFacts& facts, const MetricCatalog& catalog) {
  const std::string source = fmt::format("{} (sweep {})", request.store, facts.sweep.name);
  auto stored = config::stored_external_metrics(facts.sweep.config, source, request.folder);
  if (!stored) return stored.error();
  const bool of_sweep = request.names.empty();
  std::vector<std::string> names = request.names;
  if (of_sweep) {
    auto own = metric_names_of_sweep(facts.sweep);
    if (!own) return own.error();
    names = *std::move(own);
  }

  StoreMetrics chosen;
  std::vector<std::string> declared;
  std::set<std::string> started;
  for (const ExternalMetricEntry& entry : stored->entries) {
    declared.push_back(entry.name);
    if (!std::ranges::count(names, entry.name)) continue;
    if (request.allow_external) {
      started.insert(entry.name);
      continue;
    }
    const std::string reason = fmt::format(
        "the external metric '{}' starts a program that the sweep names ('{}'); pass "
        "--allow-external "
        "to permit this",
        entry.name, command_text(entry));
    if (!of_sweep) return invalid_argument(reason, source);
    chosen.passed_over.push_back({entry.name, reason, unscored(facts, entry.name)});
  }
  const auto metrics = with_external(catalog, *std::move(stored), started, request);
  if (!metrics) return metrics.error();
  for (const std::string& name : names) {
    const bool external = std::ranges::count(declared, name) > 0;
    if (external && !started.contains(name)) continue;
    Result<std::shared_ptr<const Metric>> metric = metrics->make(name);
    if (metric) {
      chosen.metrics.push_back(*std::move(metric));
      continue;
    }
    Error error = metric.error();
    if (!of_sweep) {
      if (!declared.empty()) {
        error.message +=
            fmt::format("; external metrics of the sweep: {}", fmt::join(declared, ", "));
      }
      return error;
    }
    chosen.passed_over.push_back(
        {name, "this program cannot measure it: " + error.message, unscored(facts, name)});
  }
  return chosen;
}

}  // namespace qfs::cli
