#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/cell_names.h"
#include "harness/cli/commands.h"
#include "harness/cli/output.h"
#include "harness/cli/run_conclusion.h"
#include "harness/cli/store_path.h"
#include "harness/cli/sweep_input.h"
#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "harness/run/length_search.h"
#include "harness/run/memory_policy.h"
#include "harness/run/signals.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

constexpr int64_t kBytesPerMib = int64_t{1} << 20;

struct FrontierOptions {
  SweepOptions sweep;
  std::string along = "local_context";
  int64_t from = 256;
  int64_t to = 131072;
  double within_percent = 5;
};

/// Where the search of one cell ended.
struct Frontier {
  std::string name;
  int64_t fits = 0;   ///< 0: not even a length of 1
  int64_t fails = 0;  ///< the shortest that ran out of memory; 0: none
  int64_t peak_bytes = 0;
  int tries = 0;
  bool whole_documents = false;  ///< at `fits` nothing is cut any more
  std::string failure;           ///< another reason to end than memory; empty: none
};

/// The highest memory of the hosts that ran, and how the cell ended.
class Watcher final : public run::Progress {
 public:
  void ahead(const run::WorkAhead&) override {}
  void cell_started(const plan::Cell&, store::ResultKind, size_t) override {}
  void rows_done(size_t, int64_t, int64_t) override {}
  void unit_done(size_t, int64_t, int64_t, const ProcessMemory& host) override {
    peak_bytes_ = std::max(peak_bytes_, host.peak_bytes);
  }
  void trained(const TrainingPoint&) override {}
  void cell_ended(const plan::Cell&, const run::CellOutcome& outcome) override {
    if (outcome.kind == store::ResultKind::predict) outcome_ = outcome;
    if (outcome.kind == store::ResultKind::train && !outcome.complete) training_ = outcome;
  }
  void note(std::string_view text) override { log_info(text); }

  int64_t peak_bytes() const { return peak_bytes_; }
  /// Of the predictions; none where they had to wait for a training.
  const std::optional<run::CellOutcome>& outcome() const { return outcome_; }
  /// Of a training that did not come to its end.
  const std::optional<run::CellOutcome>& training() const { return training_; }

 private:
  int64_t peak_bytes_ = 0;
  std::optional<run::CellOutcome> outcome_;
  std::optional<run::CellOutcome> training_;
};

/// The sweep with one value of the parameter, wherever it was set before.
Experiment at_length(const Experiment& experiment, const std::string& along, int64_t length) {
  Experiment fixed = experiment;
  for (AxisGroup& group : fixed.grid) {
    std::erase_if(group.axes, [&](const GridAxis& axis) { return axis.name == along; });
  }
  std::erase_if(fixed.grid, [](const AxisGroup& group) { return group.axes.empty(); });
  const auto is_along = [&](const NamedValue& value) { return value.name == along; };
  for (MethodEntry& entry : fixed.methods) std::erase_if(entry.params, is_along);
  const auto mentions = [&](const GridRule& rule) {
    return std::ranges::any_of(rule.values, is_along);
  };
  std::erase_if(fixed.include, mentions);
  std::erase_if(fixed.exclude, mentions);
  fixed.grid.push_back({{{along, {length}, "/grid/" + along}}});
  fixed.measure.reset();
  fixed.report.reset();
  fixed.out_of_memory = {};            // a smaller batch would be another cell
  fixed.host_reuse = HostReuse::none;  // a peak is one cell's
  return fixed;
}

/// Leaves the unit with the longest document: what fits it, fits all.
void keep_longest_unit(const plan::Plan& plan, plan::Cell& cell) {
  const auto& examples = plan.datasets[cell.dataset].data->examples;
  const auto bytes = [&](const Unit& unit) {
    size_t longest = 0;
    for (const int64_t ordinal : unit.ordinals) {
      size_t sum = 0;
      for (const Segment& segment : examples[static_cast<size_t>(ordinal)].document) {
        sum += segment.text.size();
      }
      longest = std::max(longest, sum);
    }
    return longest;
  };
  const auto longest = std::ranges::max_element(cell.units, {}, bytes);
  cell.units = {*longest};
}

/// Of all files that the cell opens as models.
int64_t model_bytes(const plan::Cell& cell) {
  namespace fs = std::filesystem;
  int64_t bytes = 0;
  const auto add = [&](const Resource& model) {
    std::error_code unknown;
    if (fs::is_regular_file(model.path, unknown)) {
      bytes += static_cast<int64_t>(fs::file_size(model.path, unknown));
      return;
    }
    for (const fs::directory_entry& file : fs::directory_iterator(model.path, unknown)) {
      const std::string kind = file.path().extension().string();
      if (kind == ".safetensors" || kind == ".gguf") {
        bytes += static_cast<int64_t>(file.file_size(unknown));
      }
    }
  };
  if (cell.backbone) add(*cell.backbone);
  for (const auto& [role, model] : cell.backbones) add(model);
  return bytes;
}

class FrontierSearch {
 public:
  FrontierSearch(const Experiment& experiment, const FrontierOptions& options, Catalogs& catalogs,
                 store::Store& store, run::RunOptions run)
      : experiment_(experiment),
        options_(options),
        catalogs_(catalogs),
        store_(store),
        run_(std::move(run)) {
    run_.probe = true;
    run_.measure = false;
    run_.rerun = plan::Filter{};  // what fitted under another limit says nothing
  }

  int interrupted_by() const { return interrupted_by_; }

  /// Every cell that has the parameter, in the order of the sweep.
  Result<std::vector<Frontier>> run() {
    const Result<const plan::Plan*> first = plan_at(options_.from);
    if (!first) return first.error();
    if (Status sound = run::check_inputs(**first, run_); !sound) return sound.error();
    std::map<size_t, std::string> names;
    size_t without = 0;
    for (const plan::Cell& cell : (*first)->cells) {
      const bool has = cell.timed() && cell.params.has(options_.along);
      if (has) names[cell.position] = CellNames(**first).of(cell);
      if (!has) ++without;
    }
    if (without > 0) {
      log_info(fmt::format("{} no {}, or outputs of another machine",
                           counted(without, "cell has", "cells have"), options_.along));
    }
    if (names.empty()) {
      return invalid_argument("no cell that is computed here has '" + options_.along + "'");
    }
    std::vector<Frontier> frontiers;
    for (const auto& [position, name] : names) {
      Result<Frontier> found = search(position, name);
      if (!found) return found.error();
      frontiers.push_back(*std::move(found));
      if (interrupted_by_ != 0) break;
    }
    return frontiers;
  }

 private:
  Result<const plan::Plan*> plan_at(int64_t length) {
    const auto known = plans_.find(length);
    if (known != plans_.end()) return &known->second;
    Result<plan::Plan> plan =
        plan_experiment(at_length(experiment_, options_.along, length), options_.sweep, catalogs_);
    if (!plan) return plan.error();
    return &plans_.emplace(length, *std::move(plan)).first->second;
  }

  /// The plan with one cell, and of that one unit.
  Result<plan::Plan> single_cell(size_t position, int64_t length) {
    const Result<const plan::Plan*> whole = plan_at(length);
    if (!whole) return whole.error();
    plan::Plan single = **whole;
    std::erase_if(single.cells, [&](const plan::Cell& cell) { return cell.position != position; });
    keep_longest_unit(single, single.cells.front());
    return single;
  }

  Result<Frontier> search(size_t position, const std::string& name) {
    const Result<plan::Plan> first = single_cell(position, options_.from);
    if (!first) return first.error();
    Frontier frontier{.name = name};
    run::LengthSearch search({.from = options_.from,
                              .to = options_.to,
                              .within = options_.within_percent / 100,
                              .limit_bytes = experiment_.limits.memory_bytes,
                              .model_bytes = model_bytes(first->cells.front())});
    while (const std::optional<int64_t> length = search.next()) {
      if (Status tried = try_length(position, *length, search, frontier); !tried) {
        return tried.error();
      }
      if (interrupted_by_ != 0 || frontier.whole_documents || !frontier.failure.empty()) break;
    }
    frontier.fits = search.largest_fit();
    frontier.fails = search.smallest_failure();
    frontier.peak_bytes = search.peak_bytes();
    frontier.tries = search.tries();
    return frontier;
  }

  Status try_length(size_t position, int64_t length, run::LengthSearch& search,
                    Frontier& frontier) {
    const Result<plan::Plan> plan = single_cell(position, length);
    if (!plan) return plan.error();
    Watcher watcher;
    const Result<run::RunSummary> summary = run::run_plan(*plan, store_, run_, watcher);
    if (!summary) return summary.error();
    interrupted_by_ = summary->interrupted_by;
    const std::string head = fmt::format("{} {}={}", frontier.name, options_.along, length);
    const bool trains_along = std::ranges::any_of(
        plan->trainings,
        [&](const plan::Training& training) { return training.cell.params.has(options_.along); });
    const std::optional<run::CellOutcome>& outcome = watcher.outcome();
    if (outcome && outcome->complete) {
      search.fits(length, watcher.peak_bytes());
      log_info(fmt::format("{}: fits, {} MiB", head, watcher.peak_bytes() / kBytesPerMib));
      Result<bool> whole = reads_all(*plan, *summary);
      if (!whole) return whole.error();
      frontier.whole_documents = *whole;
      return {};
    }
    // A training is of this length where it has the parameter.
    const std::optional<run::CellOutcome>& ended =
        outcome || !trains_along ? outcome : watcher.training();
    if (ended && run::ran_out_of_memory(ended->failure)) {
      search.fails(length);
      log_info(fmt::format("{}: out of memory: {}", head, ended->message));
    } else if (interrupted_by_ == 0) {
      frontier.failure = outcome              ? outcome->message
                         : watcher.training() ? "its training: " + watcher.training()->message
                                              : "its trained files are not there";
      log_warning(fmt::format("{}: {}", head, frontier.failure));
    }
    return {};
  }

  /// Whether the documents are shorter than the length: a longer one would change nothing.
  Result<bool> reads_all(const plan::Plan& plan, const run::RunSummary& summary) {
    Result<store::Reader> reader = store::Reader::open(store_.path());
    if (!reader) return reader.error();
    for (const int64_t ordinal : plan.cells.front().units.front().ordinals) {
      const auto output = reader->output(*summary.results.front().predict, ordinal);
      if (!output) return output.error();
      if (!*output || !(*output)->prediction.truncation) return false;
      const Truncation& cut = *(*output)->prediction.truncation;
      if (cut.kept_tokens < cut.document_tokens) return false;
    }
    return true;
  }

  const Experiment& experiment_;
  const FrontierOptions& options_;
  Catalogs& catalogs_;
  store::Store& store_;
  run::RunOptions run_;
  std::map<int64_t, plan::Plan> plans_;
  int interrupted_by_ = 0;
};

std::string why_it_ended(const Frontier& frontier) {
  if (!frontier.failure.empty()) return frontier.failure;
  if (frontier.whole_documents) return "whole documents fit";
  if (frontier.fails == 0) return "the end of the search";
  return "memory";
}

std::string frontier_text(const std::vector<Frontier>& frontiers) {
  std::vector<std::vector<std::string>> rows = {
      {"cell", "fits", "out of memory", "peak MiB", "tries", "ended by"}};
  for (const Frontier& frontier : frontiers) {
    const auto number = [](int64_t value) { return value == 0 ? "–" : std::to_string(value); };
    rows.push_back({frontier.name, number(frontier.fits), number(frontier.fails),
                    number(frontier.peak_bytes / kBytesPerMib), std::to_string(frontier.tries),
                    why_it_ended(frontier)});
  }
  return aligned(rows);
}

std::string frontier_json(const Experiment& experiment, const FrontierOptions& options,
                          const std::vector<Frontier>& frontiers) {
  json cells = json::array();
  for (const Frontier& frontier : frontiers) {
    json& cell = cells.emplace_back(json{{"cell", frontier.name},
                                         {"tries", frontier.tries},
                                         {"whole_documents", frontier.whole_documents}});
    if (frontier.fits > 0) cell["fits"] = frontier.fits;
    if (frontier.fails > 0) cell["out_of_memory"] = frontier.fails;
    if (frontier.peak_bytes > 0) cell["peak_bytes"] = frontier.peak_bytes;
    if (!frontier.failure.empty()) cell["failure"] = frontier.failure;
  }
  return json_document("frontier",
                       {{"sweep", experiment.name},
                        {"along", options.along},
                        {"memory_limit_bytes", experiment.limits.memory_bytes},
                        {"device_memory_limit_bytes", experiment.limits.device_memory_bytes},
                        {"cells", std::move(cells)}});
}

Status check_options(const FrontierOptions& options, const Experiment& experiment) {
  if (options.from > options.to) {
    return invalid_argument(fmt::format("--from {} is beyond --to {}", options.from, options.to));
  }
  if (experiment.limits.memory_bytes > 0 || options.sweep.device != "cpu") return {};
  return invalid_argument(
      "the sweep declares no limit of memory, and a search without one would take all that this "
      "machine has: \"limits\": {\"memory_mib\": N}",
      experiment.path + "#/limits");
}

Result<ExitCode> run_frontier(const FrontierOptions& options, const GlobalOptions& global) {
  Catalogs catalogs;
  const Result<Experiment> experiment = load_sweep_file(options.sweep, catalogs);
  if (!experiment) return experiment.error();
  if (Status sound = check_options(options, *experiment); !sound) return sound.error();
  Result<run::RunOptions> run = run_options(options.sweep);
  if (!run) return run.error();
  run->on_signal = [](int signal) {
    log_info(fmt::format("{}: stopping", run::signal_name(signal)));
  };
  const std::string path = sweep_store_path(global.store, experiment->name);
  Result<store::Store> store = store::Store::open(path);
  if (!store) return store.error();
  FrontierSearch search(*experiment, options, catalogs, *store, *std::move(run));
  const Result<std::vector<Frontier>> frontiers = search.run();
  if (!frontiers) return in_sweep_file(*experiment, frontiers.error());
  if (search.interrupted_by() != 0) return exit_code_of_signal(search.interrupted_by());
  const std::string text =
      global.json ? frontier_json(*experiment, options, *frontiers) : frontier_text(*frontiers);
  if (Status printed = print_result(text); !printed) return printed.error();
  const bool all = std::ranges::all_of(*frontiers, &std::string::empty, &Frontier::failure);
  return all ? ExitCode::ok : ExitCode::incomplete;
}

}  // namespace

void add_frontier_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "frontier", "The largest length of each cell that fits into memory, by trying",
      "qfs-bench frontier experiments/long_inputs.json --along local_context --to 65536 --device "
      "cuda");
  auto options = std::make_shared<FrontierOptions>();
  add_plan_options(command, options->sweep);
  add_json_option(command, line.global);
  command.add_option("--along", options->along, "The length: a parameter that is a whole number")
      ->type_name("PARAMETER")
      ->capture_default_str();
  command
      .add_option("--from", options->from,
                  "The length that is tried first; shorter ones where it does not fit")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--to", options->to, "The largest length that is tried")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--within", options->within_percent,
                  "End when what fails is less than so many percent longer than what fits")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_frontier(*options, global); };
  });
}

}  // namespace qfs::cli
