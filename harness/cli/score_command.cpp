#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "harness/cli/catalogs.h"
#include "harness/cli/commands.h"
#include "harness/cli/scoring.h"
#include "harness/cli/store_path.h"
#include "harness/core/log.h"
#include "harness/store/store.h"
#include "reports/sweep_facts.h"

namespace qfs::cli {
namespace {

struct ScoreOptions {
  std::string sweep;
  std::vector<std::string> metrics;
  bool partial = false;
};

/// Data sets whose texts the store does not keep come from the catalogue.
Status use_unstored_datasets(score::Scorer& scorer, const reports::SweepFacts& facts,
                             const DatasetCatalog& catalog) {
  for (const auto& [id, row] : facts.datasets) {
    if (row.texts_stored && row.documents_stored) continue;
    DatasetRequest request;
    request.name = row.manifest.name;
    request.split = row.manifest.split;
    request.view = row.manifest.view;
    request.text_form = row.manifest.text_form;
    Result<std::shared_ptr<const Dataset>> dataset = catalog.load(request);
    if (!dataset) {
      // Documents are not needed by every metric; missing references are, and the scorer says so.
      if (row.texts_stored) continue;
      return dataset.error();
    }
    if (Status used = scorer.use_dataset(*dataset); !used) return used;
  }
  return {};
}

Result<std::vector<std::shared_ptr<const Metric>>> wanted_metrics(const ScoreOptions& options,
                                                                  const store::SweepRow& sweep,
                                                                  const MetricCatalog& catalog) {
  std::vector<std::shared_ptr<const Metric>> metrics;
  for (const std::string& name : options.metrics) {
    Result<std::shared_ptr<const Metric>> metric = catalog.make(name);
    if (!metric) return metric.error();
    metrics.push_back(*std::move(metric));
  }
  if (!metrics.empty()) return metrics;
  Result<std::vector<ChosenMetric>> own = metrics_of_sweep(sweep, catalog);
  if (!own) return own.error();
  for (ChosenMetric& metric : *own) metrics.push_back(std::move(metric.metric));
  return metrics;
}

Result<ExitCode> run_score(const ScoreOptions& options, const GlobalOptions& global) {
  Result<std::string> path = existing_store_path(global.store);
  if (!path) return path.error();
  Result<store::Store> store = store::Store::open(*path, {.create = false});
  if (!store) return store.error();
  Result<store::Reader> reader = store::Reader::open(*path);
  if (!reader) return reader.error();
  Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, options.sweep);
  if (!facts) return facts.error();
  Catalogs catalogs;
  auto metrics = wanted_metrics(options, facts->sweep, catalogs.metrics());
  if (!metrics) return metrics.error();

  std::vector<store::ResultId> results;
  for (const reports::PlaceFacts& place : facts->places) {
    if (place.predict) results.push_back(place.predict->id);
  }
  score::Scorer scorer(*store, *reader);
  if (Status used = use_unstored_datasets(scorer, *facts, catalogs.datasets()); !used) {
    return used.error();
  }
  Result<ScoringSummary> summary = score_results(scorer, results, *metrics, options.partial);
  if (!summary) return summary.error();
  log_info(fmt::format("{} scores computed, {} were there, {} wait for predictions",
                       summary->scored, summary->kept, summary->incomplete));
  return summary->incomplete == 0 ? ExitCode::ok : ExitCode::incomplete;
}

}  // namespace

void add_score_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "score", "Scores the stored predictions of a sweep (no model needed)",
      "qfs-bench score --store lc_sweep.sqlite --metric rouge:stem=off");
  auto options = std::make_shared<ScoreOptions>();
  command.add_option("SWEEP", options->sweep, "Name or beginning of an id (default: the latest)");
  command
      .add_option("--metric", options->metrics,
                  "Metric with options (default: the sweep's); repeatable")
      ->type_name("NAME")
      ->take_all()
      ->expected(1);
  command.add_flag("--partial", options->partial, "Score incomplete cells too; tables mark them");
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_score(*options, global); };
  });
}

}  // namespace qfs::cli
