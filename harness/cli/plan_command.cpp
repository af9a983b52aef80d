#include <CLI/CLI.hpp>
#include <memory>

#include "harness/cli/commands.h"
#include "harness/cli/plan_shards.h"
#include "harness/cli/store_path.h"
#include "harness/cli/sweep_input.h"
#include "harness/plan/shards.h"

namespace qfs::cli {
namespace {

Status check_shard_options(const ShardOptions& shards) {
  if (shards.shards.has_value() == !shards.emit.empty() &&
      (!shards.emit.empty() || shards.output.empty())) {
    return {};
  }
  return invalid_argument(
      "--shards N and --emit shell, parallel or slurm go together; --output names their script");
}

Result<ExitCode> run_plan_command(const SweepOptions& options, const ShardOptions& shards,
                                  const GlobalOptions& global) {
  if (Status complete = check_shard_options(shards); !complete) return complete.error();
  Catalogs catalogs;
  Result<plan::Plan> plan = load_plan(options, catalogs);
  if (!plan) return plan.error();
  Result<run::RunOptions> run = run_options(options);
  if (!run) return run.error();
  if (Status sound = run::check_inputs(*plan, *run); !sound) return sound.error();
  const std::string store = sweep_store_path(global.store, plan->experiment.name);
  const Status printed = shards.shards
                             ? emit_shards(*plan, store, *run, options, shards, global.json)
                             : print_plan(*plan, store, *run, global.json);
  if (!printed) return printed.error();
  return plan->undescribed.empty() ? ExitCode::ok : ExitCode::incomplete;
}

}  // namespace

void add_plan_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "plan", "Shows the cells of a sweep, what the store holds of them, order and time",
      "qfs-bench plan experiments/lc_sweep.json --filter method=lead");
  auto options = std::make_shared<SweepOptions>();
  add_plan_options(command, *options);
  add_numerics_option(command, *options);
  auto shards = std::make_shared<ShardOptions>();
  command
      .add_option("--shards", shards->shards,
                  "Cut what the store lacks into N parts of about equal time")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, static_cast<int64_t>(plan::kMostShards)));
  command.add_option("--emit", shards->emit, "Write a script that runs them")
      ->check(CLI::IsMember({"shell", "parallel", "slurm"}))
      ->type_name("KIND");
  command
      .add_option("--output,-o", shards->output,
                  "The script (default: the sweep's name with .sh, .parallel.sh or .slurm.sh)")
      ->type_name("FILE");
  add_json_option(command, line.global);
  command.callback([options, shards, &global = line.global, &chosen = line.chosen] {
    chosen = [options, shards, &global] { return run_plan_command(*options, *shards, global); };
  });
}

}  // namespace qfs::cli
