// How a plan is shown: one line a cell, in the order in which they run.
#include <fmt/format.h>

#include <algorithm>
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

/// "complete", "partial", "none", "unknown" or "waiting" (for its training).
std::string_view reuse_state(const run::Reuse& reuse) {
  if (reuse.waiting()) return "waiting";
  if (!reuse.known) return "unknown";
  if (reuse.present == 0) return "none";
  return reuse.present == reuse.expected ? "complete" : "partial";
}

std::string reuse_text(const plan::Plan& plan, const plan::Cell& cell, const run::Reuse& reuse) {
  if (reuse.waiting()) {
    return "after train#" + plan.trainings[*cell.training].cell.id.short_hex();
  }
  const std::string_view state = reuse_state(reuse);
  if (state != "partial") return std::string(state);
  return fmt::format("partial ({}/{})", reuse.present, reuse.expected);
}

/// What is left of a cell, by examples: units are not known one by one before the run. Its timing
/// counts as left until its outputs are there.
double seconds_of(const plan::Plan& plan, const plan::Cell& cell, const run::Reuse& reuse) {
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
  if (cell.training) object["training"] = plan.trainings[*cell.training].cell.id.hex();
  for (const auto& [role, file] : cell.artifacts) object["artifacts"][role] = file.digest;
  return object;
}

using TrainingSeconds = std::vector<std::optional<double>>;

/// Of each training: "complete", "begun" (what is left of its time is not known) or "none".
std::vector<std::string> training_states(const TrainingSeconds& seconds,
                                         const std::vector<run::Reuse>& reuse) {
  std::vector<std::string> states;
  for (const auto& left : seconds) states.emplace_back(left ? "none" : "complete");
  for (const run::Reuse& cell : reuse) {
    for (const size_t training : cell.begun) {
      if (seconds[training]) states[training] = "begun";
    }
  }
  return states;
}

double total_of(const std::vector<double>& cells, const TrainingSeconds& trainings) {
  double total = std::accumulate(cells.begin(), cells.end(), 0.0);
  for (const std::optional<double>& training : trainings) total += training.value_or(0);
  return total;
}

size_t cells_after(const plan::Plan& plan, size_t training) {
  return static_cast<size_t>(std::ranges::count_if(
      plan.cells, [&](const plan::Cell& cell) { return cell.training == training; }));
}

std::string data_text(const plan::PlannedDataset& dataset) {
  return fmt::format("{} ({}#{}{})", dataset.name, dataset.data->manifest.split,
                     dataset.data->id.short_hex(),
                     dataset.draw ? fmt::format(", draw {}", *dataset.draw) : "");
}

json training_json(const plan::Plan& plan, size_t index, const std::string& state, double seconds) {
  const plan::Training& training = plan.trainings[index];
  const plan::PlannedDataset& train = plan.training_data[training.cell.dataset];
  json params = json::object();
  for (const auto& [name, value] : training.cell.params.values()) params[name] = value_json(value);
  json object = {{"cell_id", training.cell.id.hex()},
                 {"method", training.cell.spec->name()},
                 {"label", training.cell.label},
                 {"params", std::move(params)},
                 {"seed", training.cell.seed},
                 {"train",
                  {{"dataset", train.name},
                   {"dataset_id", train.data->id.hex()},
                   {"examples", train.ordinals.size()}}},
                 {"roles", training.cell.needs.artifacts},
                 {"cells", cells_after(plan, index)},
                 {"state", state},
                 {"seconds", seconds}};
  if (const auto& first = training.cell.training) {
    object["begins_with"] = plan.trainings[*first].cell.id.hex();
  }
  if (training.development) {
    const plan::PlannedDataset& development = plan.training_data[*training.development];
    object["development"] = {{"dataset", development.name},
                             {"dataset_id", development.data->id.hex()},
                             {"examples", development.ordinals.size()}};
  }
  return object;
}

/// ", after train#ab12…" of one that begins with what another makes.
std::string behind(const plan::Plan& plan, const plan::Training& training) {
  const std::optional<size_t>& first = training.cell.training;
  return first ? ", after train#" + plan.trainings[*first].cell.id.short_hex() : "";
}

/// A line a training, in front of the cells that wait for it.
std::string trainings_text(const plan::Plan& plan, const CellNames& names,
                           const TrainingSeconds& seconds, const std::vector<std::string>& states) {
  if (plan.trainings.empty()) return {};
  std::vector<std::vector<std::string>> rows = {
      {"training", "learns from", "chosen by", "in store", "then", "time"}};
  for (size_t i = 0; i < plan.trainings.size(); ++i) {
    const plan::Training& training = plan.trainings[i];
    const size_t cells = cells_after(plan, i);
    const plan::PlannedDataset& train = plan.training_data[training.cell.dataset];
    rows.push_back(
        {names.of_training(training.cell),
         fmt::format("{} of {}{}", train.ordinals.size(), data_text(train), behind(plan, training)),
         training.development ? data_text(plan.training_data[*training.development]) : "-",
         states[i], fmt::format("{} {}", cells, cells == 1 ? "cell" : "cells"),
         duration_text(seconds[i].value_or(0))});
  }
  return "\n" + aligned(rows);
}

std::string plan_text(const plan::Plan& plan, const std::vector<run::Reuse>& reuse,
                      const std::vector<double>& seconds) {
  size_t units = 0;
  for (const plan::Cell& cell : plan.cells) units += cell.units.size();
  const TrainingSeconds of_trainings = training_seconds(plan, reuse);
  const double total = total_of(seconds, of_trainings);
  std::string text =
      fmt::format("{}: {}, {}, about {}\n", plan.experiment.name,
                  counted(plan.cells.size(), "cell"), counted(units, "unit"), duration_text(total));
  for (const plan::PlannedDataset& dataset : plan.datasets) {
    text += fmt::format("data {}: {} of {}\n", data_text(dataset), dataset.ordinals.size(),
                        counted(dataset.data->examples.size(), "example"));
  }
  const CellNames names(plan);
  std::vector<std::vector<std::string>> rows = {{"", "cell", "what", "units", "in store", "time"}};
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    const plan::Cell& cell = plan.cells[i];
    rows.push_back({std::to_string(i + 1), cell.id.short_hex(), names.of(cell),
                    std::to_string(cell.units.size()), reuse_text(plan, cell, reuse[i]),
                    duration_text(seconds[i])});
  }
  return terminal_safe(text) +
         trainings_text(plan, names, of_trainings, training_states(of_trainings, reuse)) + "\n" +
         aligned(rows);
}

}  // namespace

std::vector<double> remaining_seconds(const plan::Plan& plan,
                                      const std::vector<run::Reuse>& reuse) {
  std::vector<double> seconds;
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    seconds.push_back(seconds_of(plan, plan.cells[i], reuse[i]));
  }
  return seconds;
}

std::vector<std::optional<double>> training_seconds(const plan::Plan& plan,
                                                    const std::vector<run::Reuse>& reuse) {
  TrainingSeconds seconds(plan.trainings.size());
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    for (const size_t training : reuse[i].trainings) {
      seconds[training] = plan::Estimator().seconds(plan.trainings[training].cell);
    }
  }
  return seconds;
}

Status print_plan(const plan::Plan& plan, const std::string& store_path,
                  const run::RunOptions& options, bool as_json) {
  Result<std::vector<run::Reuse>> reuse = run::reuse_of(plan, store_path, options);
  if (!reuse) return reuse.error();
  const std::vector<double> seconds = remaining_seconds(plan, *reuse);
  for (const std::string& note : plan.notes) log_info(note);
  if (!as_json) return print_result(plan_text(plan, *reuse, seconds));
  json cells = json::array();
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    cells.push_back(cell_json(plan, plan.cells[i], (*reuse)[i], seconds[i]));
  }
  const TrainingSeconds of_trainings = training_seconds(plan, *reuse);
  const std::vector<std::string> states = training_states(of_trainings, *reuse);
  json trainings = json::array();
  for (size_t i = 0; i < plan.trainings.size(); ++i) {
    trainings.push_back(training_json(plan, i, states[i], of_trainings[i].value_or(0)));
  }
  return print_result(json_document("plan", {{"sweep", plan.experiment.name},
                                             {"trainings", std::move(trainings)},
                                             {"cells", std::move(cells)},
                                             {"notes", plan.notes},
                                             {"seconds", total_of(seconds, of_trainings)}}));
}

}  // namespace qfs::cli
