#include "harness/cli/scoring.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/counted.h"
#include "harness/core/json_dom.h"
#include "harness/core/log.h"
#include "harness/score/bootstrap_intervals.h"

namespace qfs::cli {
namespace {

/// Why a data set of which the store has hashes alone cannot be scored, and what can be done.
Error texts_are_gone(const DatasetManifest& manifest, const DatasetCatalog& catalog, Error error) {
  const std::vector<DatasetInfo> known = catalog.list();
  const bool registered = std::ranges::count(known, manifest.name, &DatasetInfo::name) > 0;
  const std::string why = fmt::format(
      "the store has hashes of the texts of '{}' alone (its archive was made with "
      "--strip-texts), and new scores need the texts",
      manifest.name);
  error.message =
      registered
          ? fmt::format("{}; the data set cannot be read here: {}", why, error.message)
          : why +
                "; take them from a store that has them ('qfs-bench merge THIS WITH_TEXTS'), or "
                "score that one";
  return error;
}

}  // namespace

Result<std::vector<std::string>> metric_names_of_sweep(const store::SweepRow& sweep) {
  Result<nlohmann::json> config =
      parse_json(sweep.config.text, "configuration of sweep " + sweep.name);
  if (!config) return config.error();
  std::vector<std::string> names;
  for (const nlohmann::json& name : config->value("metrics", nlohmann::json::array())) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names;
}

Result<Postprocess> postprocess_of_sweep(const store::SweepRow& sweep) {
  Result<nlohmann::json> config =
      parse_json(sweep.config.text, "configuration of sweep " + sweep.name);
  if (!config) return config.error();
  std::vector<std::string> steps;
  for (const nlohmann::json& step : config->value("postprocess", nlohmann::json::array())) {
    if (!step.is_string())
      return data_error("a postprocess step of sweep " + sweep.name + " is no text");
    steps.push_back(step.get<std::string>());
  }
  return Postprocess::parse(steps);
}

Result<ScoringSummary> score_results(score::Scorer& scorer, const Postprocess& postprocess,
                                     std::span<const store::ResultId> results,
                                     std::span<const std::shared_ptr<const Metric>> metrics,
                                     bool allow_partial) {
  const score::BootstrapIntervals intervals;
  ScoringSummary summary;
  score::ScoringNotes notes;
  std::set<const Metric*> failed;
  for (store::ResultId result : results) {
    for (const std::shared_ptr<const Metric>& metric : metrics) {
      if (failed.contains(metric.get())) continue;
      Result<score::ScoreOutcome> outcome = scorer.score(
          result, *metric,
          {.postprocess = &postprocess, .allow_partial = allow_partial, .intervals = &intervals});
      if (!outcome) {
        // A text that cannot be scored is a matter of its cell; a program that is gone, of the
        // metric.
        const ErrorKind kind = outcome.error().kind;
        const bool of_cell = kind == ErrorKind::data || kind == ErrorKind::invalid_argument;
        if (!of_cell) failed.insert(metric.get());
        if (!summary.failures.empty()) log_warning(outcome.error().to_string());
        summary.failures.push_back(outcome.error());
        continue;
      }
      notes.add(outcome->notes);
      switch (outcome->action) {
        case score::ScoreAction::scored:
          ++summary.scored;
          break;
        case score::ScoreAction::kept:
          ++summary.kept;
          break;
        case score::ScoreAction::incomplete:
          ++(outcome->n + outcome->refused == outcome->expected ? summary.refused
                                                                : summary.incomplete);
          break;
      }
    }
  }
  for (const std::string& line : notes.lines()) log_warning(line);
  if (summary.refused > 0) {
    log_warning(fmt::format(
        "{} missing, since the model's server refused inputs as too long (overlength): "
        "lower local_context, or 'qfs-bench score --store FILE --partial' scores the others",
        counted(summary.refused, "score is", "scores are")));
  }
  return summary;
}

Result<std::shared_ptr<const Dataset>> unstored_dataset(const store::DatasetRow& row,
                                                        const DatasetCatalog& catalog) {
  if (row.texts_stored && row.documents_stored) return std::shared_ptr<const Dataset>();
  DatasetRequest request;
  request.name = row.manifest.name;
  request.split = row.manifest.split;
  request.view = row.manifest.view;
  request.text_form = row.manifest.text_form;
  Result<std::shared_ptr<const Dataset>> dataset = catalog.load(request);
  // Documents are not needed by every metric; missing references are, and the scorer says so.
  if (!dataset && row.texts_stored) return std::shared_ptr<const Dataset>();
  if (!dataset) return texts_are_gone(row.manifest, catalog, dataset.error());
  return dataset;
}

Status warn_of_empty_outputs(store::Reader& reader, std::span<const NamedResult> results) {
  for (const NamedResult& named : results) {
    const Result<int64_t> empty = reader.empty_outputs(named.result);
    if (!empty) return empty.error();
    if (*empty == 0) continue;
    const Result<store::ResultRow> row = reader.result(named.result);
    if (!row) return row.error();
    log_warning(fmt::format("{}: {} of {} empty; each is scored as an empty text", named.name,
                            *empty, counted(row->done, "output is", "outputs are")));
  }
  return {};
}

}  // namespace qfs::cli
