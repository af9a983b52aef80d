#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "harness/cli/commands.h"
#include "harness/cli/run_conclusion.h"
#include "harness/cli/run_scores.h"
#include "harness/cli/sweep_input.h"
#include "harness/core/counted.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "harness/plan/shards.h"
#include "harness/run/run.h"

namespace qfs::cli {
namespace {

struct WorkerOptions {
  SweepOptions sweep;
  std::string shard;
  std::string manifest;
  std::string trained_in;
  bool no_measure = false;
};

constexpr uint64_t kMostManifestBytes = uint64_t{256} << 20;

/// By the manifest, or else by the estimate of the whole sweep.
Result<plan::Shard> shard_of(const plan::Plan& plan, const WorkerOptions& options) {
  const Result<plan::ShardNumber> number = plan::parse_shard_number(options.shard);
  if (!number) {
    return invalid_argument("--shard: " + number.error().message);
  }
  if (options.manifest.empty()) {
    std::vector<plan::Shard> shards =
        plan::cut_shards(plan, plan::all_seconds(plan), number->count);
    if (number->index < shards.size()) return std::move(shards[number->index]);
    return plan::Shard{};  // fewer cells than workers
  }
  const Result<std::string> text = read_file(options.manifest, kMostManifestBytes);
  if (!text) return text.error();
  return plan::shard_in_manifest(*text, options.manifest, plan, *number);
}

Status score_shard(const plan::Plan& plan, store::Store& store, const run::RunSummary& summary) {
  Result<store::Reader> reader = store::Reader::open(store.path());
  if (!reader) return reader.error();
  const Result<RunScores> scores = score_run(plan, store, *reader, summary);
  if (!scores) return scores.error();
  if (!scores->summary.failures.empty()) return scores->summary.failures.front();
  return {};
}

Result<ExitCode> run_worker(const WorkerOptions& options, const GlobalOptions& global) {
  if (global.store.empty()) {
    return invalid_argument(
        "a worker needs a store of its own: --store FILE, a path that no other worker writes");
  }
  Catalogs catalogs;
  catalogs.set_metric_threads(static_cast<unsigned>(options.sweep.threads));
  const Result<plan::Plan> whole = load_plan(options.sweep, catalogs);
  if (!whole) return whole.error();
  const Result<plan::Shard> shard = shard_of(*whole, options);
  if (!shard) return shard.error();
  const plan::Plan plan = plan::plan_of_cells(*whole, shard->cells);
  Result<run::RunOptions> run = run_options(options.sweep);
  if (!run) return run.error();
  run->whole = &*whole;
  run->trained_in = options.trained_in;
  run->measure = !options.no_measure;
  if (Status sound = run::check_inputs(plan, *run); !sound) return sound.error();
  if (options.sweep.dry_run) {
    if (Status printed = print_plan(plan, global.store, *run, false); !printed) {
      return printed.error();
    }
    return ExitCode::ok;
  }
  Result<store::Store> store = open_store_of(plan, global.store);
  if (!store) return store.error();
  log_info(fmt::format("shard {}: {} of {}", options.shard, plan.cells.size(),
                       counted(whole->cells.size(), "cell")));
  const Result<run::RunSummary> summary =
      run_shown(plan, *store, *std::move(run), global.quiet,
                "stopping when the unit in hand is done; a second signal ends at once");
  if (!summary) return summary.error();
  if (summary->interrupted_by != 0) return interrupted(*summary, global.store);
  if (Status there = store->check_place(); !there) return there.error();
  if (Status scored = score_shard(plan, *store, *summary); !scored) return scored.error();
  return conclusion(plan, *summary);
}

}  // namespace

void add_worker_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "worker", "Runs and scores one shard of a sweep, in a store of its own",
      "qfs-bench worker lc_sweep.json --shard 2/8 --store shards/2.sqlite");
  auto options = std::make_shared<WorkerOptions>();
  add_plan_options(command, options->sweep);
  add_run_options(command, options->sweep);
  command.add_option("--shard", options->shard, "Which of how many, from 1/N to N/N")
      ->required()
      ->type_name("I/N");
  command
      .add_option("--manifest", options->manifest,
                  "The cells of each shard, as 'plan --shards' wrote them (default: cut here)")
      ->type_name("FILE");
  command
      .add_option("--trained-in", options->trained_in,
                  "A store whose trained files are used instead of training again")
      ->type_name("STORE");
  command.add_flag("--no-measure", options->no_measure,
                   "Time no cells: other workers beside this one would be in the times");
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_worker(*options, global); };
  });
}

}  // namespace qfs::cli
