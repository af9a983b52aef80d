#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/api/metric_columns.h"
#include "harness/cli/catalogs.h"
#include "harness/cli/chosen_places.h"
#include "harness/cli/commands.h"
#include "harness/cli/decision_text.h"
#include "harness/cli/gate_sides.h"
#include "harness/cli/output.h"
#include "harness/cli/store_path.h"
#include "harness/core/counted.h"
#include "harness/core/files.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

struct BaselineOptions {
  std::string name;
  std::string folder = "baselines";
  std::vector<std::string> filters;
  std::string run;
  bool measured = false;
};

Result<ExitCode> set_baseline(const BaselineOptions& options, const GlobalOptions& global) {
  if (!gate::is_baseline_file(options.name) && !is_baseline_name(options.name)) {
    return invalid_argument("'" + options.name +
                            "' is neither a name, such as main, nor a file that ends in .jsonl");
  }
  const std::string path = gate::is_baseline_file(options.name)
                               ? options.name
                               : options.folder + "/" + options.name + ".jsonl";
  const auto store = existing_store_path(global.store);
  if (!store) return store.error();
  Catalogs catalogs;
  const auto side = open_gate_side({*store, options.run, joined_filter(options.filters)},
                                   catalogs.metrics(), global);
  if (!side) return side.error();
  const auto saved = save_baseline(*side, path, options.measured, ExistingFile::replace);
  if (!saved) return saved.error();
  return saved->value_or(ExitCode::ok);
}

Result<ExitCode> list_baselines(const BaselineOptions& options, const GlobalOptions& global) {
  std::error_code absent;
  if (!std::filesystem::is_directory(options.folder, absent)) {
    return not_found(
        fmt::format("there is no folder '{}' of baselines (--baselines)", options.folder));
  }
  const auto files = glob_files(options.folder, "*.jsonl");
  if (!files) return files.error();
  std::vector<std::vector<std::string>> rows = {{"name", "sweep", "cells", "file"}};
  json list = json::array();
  for (const std::string& file : *files) {
    const std::string path = options.folder + "/" + file;
    const auto baseline = gate::Baseline::load(path);
    if (!baseline) return baseline.error();
    const size_t cells = baseline->cells().size();
    rows.push_back({baseline->info().name, baseline->info().sweep, std::to_string(cells), path});
    list.push_back({{"name", baseline->info().name},
                    {"sweep", baseline->info().sweep},
                    {"cells", cells},
                    {"file", path}});
  }
  const std::string text =
      global.json ? json_document("baselines", {{"baselines", std::move(list)}}) : aligned(rows);
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

Result<ExitCode> show_baseline(const BaselineOptions& options, const GlobalOptions& global) {
  const std::string path = baseline_path(options.name, options.folder);
  const auto baseline = gate::Baseline::load(path);
  if (!baseline) return baseline.error();
  const compare::Cells cells = baseline->cells();
  const auto shown = compare::telling_dimensions(cells);
  std::vector<std::vector<std::string>> rows = {{"cell", "value", "score", "examples"}};
  json list = json::array();
  for (const compare::StoredCell* cell : cells) {
    const std::string name = compare::cell_name(*cell, shown);
    for (const store::ScoreJobRow& job : cell->scores) {
      for (const store::ScoreRow& score : job.scores) {
        if (is_statistic(score.name)) continue;
        rows.push_back(
            {name, score.name, Shown(score.name).value(score.value), std::to_string(job.n)});
        list.push_back({{"cell", name},
                        {"cell_id", cell->cell.id.hex()},
                        {"value", score.name},
                        {"score", score.value},
                        {"examples", job.n},
                        {"signature", job.signature}});
      }
    }
  }
  const std::string text = global.json
                               ? json_document("baseline", {{"name", baseline->info().name},
                                                            {"sweep", baseline->info().sweep},
                                                            {"scores", std::move(list)}})
                               : aligned(rows);
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

using Run = Result<ExitCode> (*)(const BaselineOptions&, const GlobalOptions&);

void on_choice(CLI::App& command, const std::shared_ptr<BaselineOptions>& options,
               const CommandLine& line, Run run) {
  command.callback([options, run, &global = line.global, &chosen = line.chosen] {
    chosen = [options, run, &global] { return run(*options, global); };
  });
}

}  // namespace

void add_baseline_command(const CommandLine& line) {
  CLI::App& baseline = add_subcommand(
      line.app, "baseline", "Named baselines of `gate`: scores as JSON lines, to be committed",
      "qfs-bench baseline set main --store main.sqlite");
  baseline.require_subcommand(1);
  auto options = std::make_shared<BaselineOptions>();

  CLI::App& set = add_subcommand(baseline, "set", "Makes one of a store, or replaces it",
                                 "qfs-bench baseline set main --store main.sqlite");
  set.add_option("NAME", options->name, "Its name, or a file that ends in .jsonl")->required();
  set.add_flag("--measured", options->measured,
               "Speed and memory too; they differ from run to run, and so does the file");
  add_filter_option(set, options->filters);
  add_run_option(set, options->run);
  add_foreign_option(set, line.global);
  add_baselines_option(set, options->folder);
  on_choice(set, options, line, set_baseline);

  CLI::App& list = add_subcommand(baseline, "list", "The baselines of the folder",
                                  "qfs-bench baseline list --baselines ci/baselines");
  add_baselines_option(list, options->folder);
  add_json_option(list, line.global);
  on_choice(list, options, line, list_baselines);

  CLI::App& show = add_subcommand(baseline, "show", "Its cells and their scores",
                                  "qfs-bench baseline show main");
  show.add_option("NAME", options->name, "Its name, or its file")->required();
  add_baselines_option(show, options->folder);
  add_json_option(show, line.global);
  on_choice(show, options, line, show_baseline);
}

}  // namespace qfs::cli
