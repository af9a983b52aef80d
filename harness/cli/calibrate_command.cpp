#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/api/metric_columns.h"
#include "harness/cli/catalogs.h"
#include "harness/cli/chosen_places.h"
#include "harness/cli/commands.h"
#include "harness/cli/decision_text.h"
#include "harness/cli/gate_sides.h"
#include "harness/cli/margin_options.h"
#include "harness/cli/output.h"
#include "harness/cli/store_path.h"
#include "harness/compare/points.h"
#include "harness/core/counted.h"
#include "harness/gate/calibrate.h"
#include "harness/gate/policy.h"

namespace qfs::cli {
namespace {

using gate::Calibrated;
using nlohmann::json;

struct CalibrateOptions {
  std::vector<std::string> drops;
  std::string policy;
  MarginOptions margins;
  std::vector<std::string> filters;
  std::string run;
};

std::string text_of(const gate::Calibration& calibration, double level) {
  std::vector<std::vector<std::string>> rows = {{"cell", "value", "runs", "documents", "sd of runs",
                                                 "drop", "needed", "with 2 runs", "with 4 runs",
                                                 "alarms"}};
  int64_t alarms = 0;
  int64_t pairs = 0;
  for (const Calibrated& cell : calibration.cells) {
    const Shown shown(cell.column);
    rows.push_back({cell.cell, cell.column, std::to_string(cell.runs),
                    std::to_string(cell.clusters), shown.value(cell.standard_error),
                    shown.value(cell.drop), std::to_string(cell.needed.at(1)),
                    std::to_string(cell.needed.at(2)), std::to_string(cell.needed.at(4)),
                    fmt::format("{} of {}", cell.alarms, cell.pairs)});
    alarms += cell.alarms;
    pairs += cell.pairs;
  }
  std::string text = aligned(rows);
  for (const compare::NotCompared& cell : calibration.left_out) {
    text += aligned({{"left out: " + cell.name + ": " + cell.reason}});
  }
  return text + fmt::format(
                    "sd of runs: standard error of the difference of two equal runs, in points; "
                    "needed: documents that show the drop with 80 % when {} adjusted together\n"
                    "calibrate: {} on {} of equal results, at most {:g} % declared\n",
                    counted(calibration.tests, "test is", "tests are"),
                    counted(alarms, "false alarm"), counted(pairs, "gate"), 100 * level);
}

std::string json_of(const gate::Calibration& calibration, double level) {
  json cells = json::array();
  for (const Calibrated& cell : calibration.cells) {
    const double scale = table_scale(cell.column);
    json needed = json::object();
    for (const auto& [repeats, clusters] : cell.needed) needed[std::to_string(repeats)] = clusters;
    cells.push_back({{"cell", cell.cell},
                     {"value", cell.column},
                     {"drop_points", cell.drop * scale},
                     {"runs", cell.runs},
                     {"pairs", cell.pairs},
                     {"false_alarms", cell.alarms},
                     {"clusters", cell.clusters},
                     {"standard_error_points", cell.standard_error * scale},
                     {"clusters_needed_by_repeats", std::move(needed)}});
  }
  return json_document("calibrate", {{"cells", std::move(cells)},
                                     {"left_out", not_compared_json(calibration.left_out)},
                                     {"tests", calibration.tests},
                                     {"false_alarm_rate", level}});
}

Result<ExitCode> run_calibrate(const CalibrateOptions& options, const GlobalOptions& global) {
  Result<gate::Policy> read = policy_with(options.policy, options.margins);
  if (!read) return read.error();
  gate::Policy policy = *std::move(read);
  std::map<std::string, double> drops;
  for (const std::string& text : options.drops) {
    const auto drop = compare::parse_column_points(text, "--drop");
    if (!drop) return drop.error();
    drops[drop->column] = drop->size;
    const compare::Margin& margin =
        policy.request.margins.try_emplace(drop->column, compare::Margin{}).first->second;
    if (drop->size <= margin.size) {
      return invalid_argument("--drop " + text + ": a drop within the margin is not to be found");
    }
  }
  const auto store = existing_store_path(global.store);
  if (!store) return store.error();
  std::vector<std::string> filters = options.filters;
  if (!policy.filter.empty()) filters.push_back(policy.filter);
  Catalogs catalogs;
  const auto side =
      open_gate_side({*store, options.run, joined_filter(filters)}, catalogs.metrics(), global);
  if (!side) return side.error();
  const auto calibration = gate::calibrate(side->cells, drops, policy.request, catalogs.metrics());
  if (!calibration) return calibration.error();
  const double level = policy.request.level;
  const std::string text =
      global.json ? json_of(*calibration, level) : text_of(*calibration, level);
  if (Status printed = print_result(text); !printed) return printed.error();
  return calibration->cells.empty() ? ExitCode::incomplete : ExitCode::ok;
}

}  // namespace

void add_calibrate_command(CLI::App& gate, const CommandLine& line) {
  CLI::App& command = add_subcommand(
      gate, "calibrate",
      "Gates on equal results, made of repeated runs (seeds): how many documents show a drop",
      "qfs-bench gate calibrate --store runs.sqlite --drop rougeL.f=2pt");
  auto options = std::make_shared<CalibrateOptions>();
  repeatable(command.add_option("--drop", options->drops,
                                "A drop that is to be found, in points of the table; repeatable"))
      ->delimiter(',')
      ->type_name("COLUMN=POINTSpt")
      ->required();
  command.add_option("--policy", options->policy, "Margins and level, as `gate` takes them")
      ->type_name("FILE");
  add_margin_options(command, options->margins);
  add_filter_option(command, options->filters);
  add_run_option(command, options->run);
  add_json_option(command, line.global);
  add_foreign_option(command, line.global);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_calibrate(*options, global); };
  });
}

}  // namespace qfs::cli
