#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/cell_names.h"
#include "harness/cli/commands.h"
#include "harness/cli/output.h"
#include "harness/cli/progress_printer.h"
#include "harness/cli/store_path.h"
#include "harness/cli/sweep_input.h"
#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "harness/run/run.h"
#include "harness/run/signals.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

/// Everything that the store has of one training.
struct Trained {
  std::vector<store::ArtifactRow> files;
  std::vector<store::TrainingPointRow> curve;
  std::optional<TrainingCost> cost;
  std::string failure;  ///< of the last attempt, where it is not complete
};

Result<Trained> read_trained(store::Reader& reader, store::ResultId result) {
  Trained trained;
  auto files = reader.artifacts(result);
  if (!files) return files.error();
  trained.files = *std::move(files);
  auto curve = reader.training_points(result);
  if (!curve) return curve.error();
  trained.curve = *std::move(curve);
  auto cost = reader.training_cost(result);
  if (!cost) return cost.error();
  trained.cost = *std::move(cost);
  auto row = reader.result(result);
  if (!row) return row.error();
  trained.failure = std::move(row->failure_text);
  return trained;
}

std::string path_of(const std::string& store_path, const store::ArtifactRow& file) {
  return (std::filesystem::path(store_path).parent_path() / file.location).string();
}

json data_json(const plan::PlannedDataset& data) {
  return {{"dataset", data.name},
          {"dataset_id", data.data->id.hex()},
          {"examples", data.ordinals.size()}};
}

/// What its id is made of, numbers as numbers.
json asked_params(const plan::Cell& cell, const json& identity) {
  json params = identity;
  for (auto& [name, value] : params.items()) {
    const auto asked = cell.params.values().find(name);
    if (asked == cell.params.values().end()) continue;
    if (const auto* real = std::get_if<double>(&asked->second)) value = *real;
  }
  return params;
}

/// What was asked for, and what it made: the record of a trained file.
json trained_json(const plan::Plan& plan, const plan::Training& training,
                  const std::string& store_path, bool complete, const Trained& trained) {
  const plan::Cell& cell = training.cell;
  json files = json::array();
  for (const store::ArtifactRow& file : trained.files) {
    files.push_back({{"role", file.role},
                     {"path", path_of(store_path, file)},
                     {"sha256", file.sha256},
                     {"bytes", file.bytes}});
  }
  json curve = json::array();
  for (const store::TrainingPointRow& point : trained.curve) {
    curve.push_back({{"step", point.step}, {"values", point.values}});
  }
  json object = {{"cell_id", cell.id.hex()},  {"label", cell.label},
                 {"seed", cell.seed},         {"complete", complete},
                 {"files", std::move(files)}, {"curve", std::move(curve)}};
  const json identity = json::parse(cell.identity.text);
  if (identity.contains("params")) object["params"] = asked_params(cell, identity["params"]);
  if (identity.contains("init")) object["init"] = identity["init"];
  if (!complete && !trained.failure.empty()) object["failure"] = trained.failure;
  if (cell.backbone) object["backbone"] = cell.backbone->name;
  object["train"] = data_json(plan.training_data[cell.dataset]);
  if (training.development) {
    object["development"] = data_json(plan.training_data[*training.development]);
  }
  if (const auto& cost = trained.cost) {
    object["cost"] = {{"seconds", cost->seconds},
                      {"steps", cost->steps},
                      {"tokens", cost->tokens},
                      {"flops", cost->flops},
                      {"trainable_parameters", cost->trainable_parameters},
                      {"peak_bytes", cost->peak_bytes}};
  }
  return object;
}

std::string trained_text(const std::string& name, const std::string& store_path, bool complete,
                         const Trained& trained) {
  std::string text = name + (complete ? "" : ": not complete") + "\n";
  if (!complete && !trained.failure.empty()) text += "  " + trained.failure + "\n";
  for (const store::ArtifactRow& file : trained.files) {
    text += fmt::format("  {} {} ({} bytes, sha256 {})\n", file.role, path_of(store_path, file),
                        file.bytes, file.sha256);
  }
  if (const auto& cost = trained.cost) {
    constexpr int64_t kMebibyte = int64_t{1} << 20;
    text += fmt::format("  {} steps, {} tokens, {} trainable parameters, {}, {} MiB at most\n",
                        cost->steps, cost->tokens, cost->trainable_parameters,
                        duration_text(cost->seconds), cost->peak_bytes / kMebibyte);
  }
  return text;
}

Status print_trained(const plan::Plan& plan, const store::Store& store,
                     const run::RunSummary& summary, bool as_json) {
  Result<store::Reader> reader = store::Reader::open(store.path());
  if (!reader) return reader.error();
  const CellNames names(plan);
  json list = json::array();
  std::string text;
  for (size_t i = 0; i < summary.trainings.size(); ++i) {
    const auto& [result, complete] = summary.trainings[i];
    const plan::Cell& cell = plan.trainings[i].cell;
    Result<Trained> trained = result ? read_trained(*reader, *result) : Trained();
    if (!trained) return trained.error();
    if (!complete && trained->failure.empty() && cell.training && trained->curve.empty()) {
      trained->failure = "what it begins with is not complete, or was not reproduced";
    }
    list.push_back(trained_json(plan, plan.trainings[i], store.path(), complete, *trained));
    text += trained_text(names.of_training(cell), store.path(), complete, *trained);
  }
  if (as_json) return print_result(json_document("train", {{"trainings", std::move(list)}}));
  return print_result(terminal_safe(text));
}

Result<ExitCode> run_train(const SweepOptions& options, const GlobalOptions& global) {
  Catalogs catalogs;
  Result<plan::Plan> plan = load_plan(options, catalogs);
  if (!plan) return plan.error();
  if (plan->trainings.empty()) {
    return invalid_argument("no cell of the sweep trains", options.file);
  }
  Result<run::RunOptions> run = run_options(options);
  if (!run) return run.error();
  if (Status sound = run::check_inputs(*plan, *run); !sound) return sound.error();
  run->train_only = true;
  const std::string path = sweep_store_path(global.store, plan->experiment.name);
  Result<store::Store> store = open_store_of(*plan, path);
  if (!store) return store.error();
  const Result<run::RunSummary> summary =
      run_shown(*plan, *store, *std::move(run), global.quiet,
                "stopping; the next run continues from the last checkpoint");
  if (!summary) return summary.error();
  if (Status printed = print_trained(*plan, *store, *summary, global.json); !printed) {
    return printed.error();
  }
  if (!options.init.empty()) {
    log_info("the sweep's own trainings do not begin with '" + options.init +
             "': put \"init\" into the file, or name what was trained as \"artifact\"");
  }
  if (summary->interrupted_by != 0) return exit_code_of_signal(summary->interrupted_by);
  const bool complete =
      std::ranges::all_of(summary->trainings, [](const auto& one) { return one.complete; });
  if (summary->conflicts > 0) {
    log_warning(counted(summary->conflicts, "trained file was", "trained files were") +
                " not reproduced when trained again");
  }
  return complete && plan->undescribed.empty() ? ExitCode::ok : ExitCode::incomplete;
}

}  // namespace

void add_train_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "train", "Runs the trainings of a sweep file, without its predictions",
      "qfs-bench train experiments/lora_rank.json --filter rank=8 --steps 100");
  auto options = std::make_shared<SweepOptions>();
  add_plan_options(command, *options);
  add_retry_option(command, *options);
  add_training_options(command, *options);
  add_json_option(command, line.global);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_train(*options, global); };
  });
}

}  // namespace qfs::cli
