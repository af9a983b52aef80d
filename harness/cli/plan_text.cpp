// How a plan is shown: one line a cell, in the order in which they run.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "harness/cli/cell_names.h"
#include "harness/cli/output.h"
#include "harness/cli/sweep_input.h"
#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "harness/plan/estimate.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

/// "complete", "partial", "none" or "unknown".
std::string_view reuse_state(const run::Reuse& reuse) {
  if (!reuse.known) return "unknown";
  if (reuse.present == 0) return "none";
  return reuse.present == reuse.expected ? "complete" : "partial";
}

std::string reuse_text(const run::Reuse& reuse) {
  const std::string_view state = reuse_state(reuse);
  if (state != "partial") return std::string(state);
  return fmt::format("partial ({}/{})", reuse.present, reuse.expected);
}

/// What is left of a cell, by examples: units are not known one by one before the run. Its timing
/// counts as left until its outputs are there.
double remaining_seconds(const plan::Plan& plan, const plan::Cell& cell, const run::Reuse& reuse) {
  const plan::Estimator estimator;
  const size_t missing = reuse.expected - reuse.present;
  if (missing == 0) return 0;
  const auto expected = static_cast<double>(reuse.expected);
  double seconds = estimator.seconds(cell) * static_cast<double>(missing) / expected;
  if (plan.experiment.measure) {
    seconds += estimator.measure_seconds(cell, reuse.expected, *plan.experiment.measure);
  }
  if (!reuse.example_seconds) return seconds;
  return seconds * *reuse.example_seconds * expected / estimator.seconds(cell);
}

json value_json(const ParamValue& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

json cell_json(const plan::Plan& plan, const plan::Cell& cell, const run::Reuse& reuse,
               double seconds) {
  json params = json::object();
  for (const auto& [name, value] : cell.params.values()) params[name] = value_json(value);
  const plan::PlannedDataset& dataset = plan.datasets[cell.dataset];
  json object = {
      {"cell_id", cell.id.hex()},
      {"method", cell.spec->name()},
      {"label", cell.label},
      {"params", std::move(params)},
      {"seed", cell.seed},
      {"shown_seeds", cell.shown_seeds},
      {"dataset", dataset.name},
      {"dataset_id", dataset.data->id.hex()},
      {"host", to_string(cell.host)},
      {"oracle", cell.needs.references || cell.needs.evidence},
      {"units", cell.units.size()},
      {"examples", dataset.ordinals.size()},
      {"reuse",
       {{"state", reuse_state(reuse)}, {"present", reuse.present}, {"expected", reuse.expected}}},
      {"seconds", seconds}};
  if (cell.backbone) object["backbone"] = cell.backbone->name;
  if (cell.tokenizer) object["tokenizer"] = cell.tokenizer->name;
  return object;
}

std::string plan_text(const plan::Plan& plan, const std::vector<run::Reuse>& reuse,
                      const std::vector<double>& seconds) {
  size_t units = 0;
  for (const plan::Cell& cell : plan.cells) units += cell.units.size();
  const double total = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  std::string text =
      fmt::format("{}: {}, {}, about {}\n", plan.experiment.name,
                  counted(plan.cells.size(), "cell"), counted(units, "unit"), duration_text(total));
  for (const plan::PlannedDataset& dataset : plan.datasets) {
    text += fmt::format("data {} ({}#{}): {} of {}\n", dataset.name, dataset.data->manifest.split,
                        dataset.data->id.short_hex(), dataset.ordinals.size(),
                        counted(dataset.data->examples.size(), "example"));
  }
  const CellNames names(plan);
  std::vector<std::vector<std::string>> rows = {{"", "cell", "what", "units", "in store", "time"}};
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    const plan::Cell& cell = plan.cells[i];
    rows.push_back({std::to_string(i + 1), cell.id.short_hex(), names.of(cell),
                    std::to_string(cell.units.size()), reuse_text(reuse[i]),
                    duration_text(seconds[i])});
  }
  return terminal_safe(text) + "\n" + aligned(rows);
}

}  // namespace

Status print_plan(const plan::Plan& plan, const std::string& store_path,
                  const run::RunOptions& options, bool as_json) {
  Result<std::vector<run::Reuse>> reuse = run::reuse_of(plan, store_path, options);
  if (!reuse) return reuse.error();
  std::vector<double> seconds;
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    seconds.push_back(remaining_seconds(plan, plan.cells[i], (*reuse)[i]));
  }
  for (const std::string& note : plan.notes) log_info(note);
  if (!as_json) return print_result(plan_text(plan, *reuse, seconds));
  json cells = json::array();
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    cells.push_back(cell_json(plan, plan.cells[i], (*reuse)[i], seconds[i]));
  }
  return print_result(
      json_document("plan", {{"sweep", plan.experiment.name},
                             {"cells", std::move(cells)},
                             {"notes", plan.notes},
                             {"seconds", std::accumulate(seconds.begin(), seconds.end(), 0.0)}}));
}

}  // namespace qfs::cli
