#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/cli/cell_names.h"
#include "harness/cli/commands.h"
#include "harness/cli/decision_text.h"
#include "harness/cli/output.h"
#include "harness/cli/run_conclusion.h"
#include "harness/cli/run_scores.h"
#include "harness/cli/store_path.h"
#include "harness/cli/sweep_input.h"
#include "harness/compare/cell_source.h"
#include "harness/core/counted.h"
#include "harness/run/ways.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

struct NoiseOptions {
  SweepOptions sweep;
  std::optional<int64_t> batch_size;
};

/// Metric columns with how far their corpus values lie apart.
using Floor = std::map<std::string, double>;

/// One of the ways in which a cell was computed; the first is the sweep's own.
struct ProbedWay {
  run::Way way;
  size_t cell = 0;  ///< index into the plan of all ways
  bool complete = false;
  std::vector<std::string> changed;  ///< keys of examples whose output is not that of the first way
};

struct ProbedCell {
  const plan::Cell* cell = nullptr;  ///< of the sweep's plan
  std::vector<ProbedWay> ways;
  Floor floor;

  bool complete() const { return std::ranges::all_of(ways, &ProbedWay::complete); }
  std::set<std::string> changed() const {
    std::set<std::string> keys;
    for (const ProbedWay& way : ways) keys.insert(way.changed.begin(), way.changed.end());
    return keys;
  }
};

/// Both orders, with the cell's own batches and, where these are numerics, with others.
Result<std::vector<run::Way>> ways_of(const plan::Cell& cell, std::optional<int64_t> asked) {
  constexpr int64_t kOtherThanOne = 4;
  std::vector<run::Way> ways = {{}, {.reversed = true}};
  const std::optional<int64_t> own = run::batch_size_of(cell);
  if (!own) return ways;
  const int64_t other = asked ? *asked : *own == 1 ? kOtherThanOne : 1;
  if (other == *own) return ways;
  if (Status allowed = run::check_batch_size(cell, other); !allowed) {
    Error error = allowed.error();
    error.message = fmt::format("'{}' with batches of {}: {} (--batch-size takes another)",
                                cell.label, other, error.message);
    return error;
  }
  ways.push_back({.batch_size = other});
  ways.push_back({.batch_size = other, .reversed = true});
  return ways;
}

/// The plan with every cell in each of its ways.
struct Probe {
  plan::Plan plan;
  std::vector<ProbedCell> cells;
};

Result<Probe> probe_of(const plan::Plan& plan, const NoiseOptions& options) {
  Probe probe{plan, {}};
  probe.plan.cells.clear();
  for (const plan::Cell& cell : plan.cells) {
    if (!cell.timed()) continue;  // what a server or a file says is not computed here
    const Result<std::vector<run::Way>> ways = ways_of(cell, options.batch_size);
    if (!ways) return ways.error();
    ProbedCell& probed = probe.cells.emplace_back();
    probed.cell = &cell;
    for (const run::Way& way : *ways) {
      probed.ways.push_back({way, probe.plan.cells.size()});
      probe.plan.cells.push_back(run::in_another_way(plan, cell, way));
    }
  }
  if (probe.cells.empty()) {
    return invalid_argument(
        "no cell of the sweep is computed here: outputs of servers and files "
        "have no noise of numerics");
  }
  return probe;
}

/// Ordinals with the digests of outputs.
Result<std::map<int64_t, std::string>> digests(store::Reader& reader, store::ResultId result) {
  const Result<std::vector<store::OutputRow>> outputs = reader.outputs(result);
  if (!outputs) return outputs.error();
  std::map<int64_t, std::string> digests;
  for (const store::OutputRow& output : *outputs) digests[output.ordinal] = output.sha256;
  return digests;
}

Status find_changes(const Probe& probe, const run::RunSummary& summary, store::Reader& reader,
                    ProbedCell& probed) {
  const auto& examples = probe.plan.datasets[probed.cell->dataset].data->examples;
  std::map<int64_t, std::string> first;
  for (ProbedWay& way : probed.ways) {
    const std::optional<store::ResultId> result = summary.results[way.cell].predict;
    if (!result) continue;
    const Result<store::ResultRow> row = reader.result(*result);
    if (!row) return row.error();
    way.complete = row->status == store::Completeness::complete;
    Result<std::map<int64_t, std::string>> own = digests(reader, *result);
    if (!own) return own.error();
    if (&way == &probed.ways.front()) first = *std::move(own);
    if (!way.complete) continue;
    for (const auto& [ordinal, digest] : *own) {
      const auto there = first.find(ordinal);
      if (there != first.end() && there->second != digest) {
        way.changed.push_back(examples[static_cast<size_t>(ordinal)].key);
      }
    }
  }
  return {};
}

/// What `gate` takes for this cell from the same store.
Status find_floor(const run::RunSummary& summary, store::Reader& reader, ProbedCell& probed) {
  const std::optional<store::ResultId> own = summary.results[probed.ways.front().cell].predict;
  if (!own) return {};
  const Result<std::vector<store::ScoreJobRow>> jobs = reader.scores(*own);
  if (!jobs) return jobs.error();
  compare::StoreCells source(reader);
  compare::StoredCell cell;
  cell.cell.id = probed.cell->id;
  for (const store::ScoreJobRow& job : *jobs) {
    const Result<std::vector<double>> noise = source.noise(cell, job);
    if (!noise) return noise.error();
    for (size_t c = 0; c < job.columns.size(); ++c) {
      if (!is_statistic(job.columns[c])) probed.floor[job.columns[c]] = (*noise)[c];
    }
  }
  return {};
}

Floor largest(const std::vector<ProbedCell>& cells) {
  Floor floor;
  for (const ProbedCell& cell : cells) {
    for (const auto& [column, noise] : cell.floor) {
      floor[column] = std::max(floor[column], noise);
    }
  }
  return floor;
}

json floor_json(const Floor& floor) {
  json object = json::object();
  for (const auto& [column, noise] : floor) object[column] = noise * table_scale(column);
  return object;
}

std::string probe_json(const Probe& probe) {
  const CellNames names(probe.plan);
  json cells = json::array();
  for (const ProbedCell& probed : probe.cells) {
    json ways = json::array();
    for (const ProbedWay& way : probed.ways) {
      const auto batch = run::batch_size_of(probe.plan.cells[way.cell]);
      json& object = ways.emplace_back(json{{"order", way.way.reversed ? "reversed" : "given"},
                                            {"complete", way.complete},
                                            {"changed", way.changed}});
      if (batch) object["batch_size"] = *batch;
    }
    cells.push_back({{"cell_id", probed.cell->id.hex()},
                     {"cell", names.of(*probed.cell)},
                     {"ways", std::move(ways)},
                     {"noise_points", floor_json(probed.floor)}});
  }
  return json_document("noise", {{"sweep", probe.plan.experiment.name},
                                 {"cells", std::move(cells)},
                                 {"noise_points", floor_json(largest(probe.cells))}});
}

/// "rouge1.f 0.12 points, rougeL.f 0.08 points"; columns that change only.
std::string floor_text(const Floor& floor) {
  std::string text;
  for (const auto& [column, noise] : floor) {
    if (noise == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", column, Shown(column).points(noise));
  }
  return text.empty() ? "no score changes" : text;
}

std::string way_text(const plan::Cell& cell, const run::Way& way) {
  const std::optional<int64_t> batch = run::batch_size_of(cell);
  std::string text = batch ? fmt::format("batches of {}", *batch) : "one by one";
  return text + (way.reversed ? ", reversed" : "");
}

std::string cell_text(const Probe& probe, const ProbedCell& probed) {
  constexpr size_t kMostKeys = 5;
  const std::set<std::string> changed = probed.changed();
  std::string text = fmt::format("{}: {} of {} changed, {}\n",
                                 CellNames(probe.plan).of(*probed.cell), changed.size(),
                                 counted(probe.plan.datasets[probed.cell->dataset].ordinals.size(),
                                         "output is", "outputs are"),
                                 floor_text(probed.floor));
  for (const ProbedWay& way : probed.ways) {
    const std::string name = way_text(probe.plan.cells[way.cell], way.way);
    if (!way.complete) text += fmt::format("  {}: not complete\n", name);
    if (way.changed.empty()) continue;
    const auto end =
        way.changed.begin() + static_cast<std::ptrdiff_t>(std::min(kMostKeys, way.changed.size()));
    text += fmt::format("  {}: {}{}\n", name, fmt::join(way.changed.begin(), end, ", "),
                        end == way.changed.end() ? "" : ", …");
  }
  return text;
}

std::string probe_text(const Probe& probe) {
  std::string text;
  for (const ProbedCell& probed : probe.cells) text += cell_text(probe, probed);
  return text + "noise floor: " + floor_text(largest(probe.cells)) + "\n";
}

Result<ExitCode> run_noise(const NoiseOptions& options, const GlobalOptions& global) {
  Catalogs catalogs;
  catalogs.set_metric_threads(static_cast<unsigned>(options.sweep.threads));
  const Result<plan::Plan> plan = load_plan(options.sweep, catalogs);
  if (!plan) return plan.error();
  Result<Probe> probe = probe_of(*plan, options);
  if (!probe) return in_sweep_file(plan->experiment, probe.error());
  Result<run::RunOptions> run = run_options(options.sweep);
  if (!run) return run.error();
  run->probe = true;
  run->measure = false;
  if (Status sound = run::check_inputs(*plan, *run); !sound) return sound.error();
  const std::string path = sweep_store_path(global.store, plan->experiment.name);
  Result<store::Store> store = open_store_of(*plan, path);
  if (!store) return store.error();
  const Result<run::RunSummary> summary =
      run_shown(probe->plan, *store, *std::move(run), global.quiet,
                "stopping when the unit in hand is done; a second signal ends at once");
  if (!summary) return summary.error();
  if (summary->interrupted_by != 0) return interrupted(*summary, path);
  Result<store::Reader> reader = store::Reader::open(path);
  if (!reader) return reader.error();
  const Result<RunScores> scores = score_run(probe->plan, *store, *reader, *summary);
  if (!scores) return scores.error();
  bool complete = true;
  for (ProbedCell& probed : probe->cells) {
    if (Status found = find_changes(*probe, *summary, *reader, probed); !found) {
      return found.error();
    }
    if (Status found = find_floor(*summary, *reader, probed); !found) return found.error();
    complete = complete && probed.complete();
  }
  const std::string text = global.json ? probe_json(*probe) : probe_text(*probe);
  if (Status printed = print_result(text); !printed) return printed.error();
  if (!scores->summary.failures.empty()) return scores->summary.failures.front();
  return complete ? ExitCode::ok : ExitCode::incomplete;
}

}  // namespace

void add_noise_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "noise",
      "What numerics alone change: each cell with two batch sizes and in two orders",
      "qfs-bench noise experiments/lc_sweep.json --filter method=zero_shot --batch-size 8");
  auto options = std::make_shared<NoiseOptions>();
  add_plan_options(command, options->sweep);
  add_retry_option(command, options->sweep);
  add_json_option(command, line.global);
  command
      .add_option("--batch-size", options->batch_size,
                  "The second batch size (default: 1, or 4 where the sweep's is 1)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_noise(*options, global); };
  });
}

}  // namespace qfs::cli
