#include <CLI/CLI.hpp>
#include <memory>

#include "harness/cli/commands.h"
#include "harness/cli/store_path.h"
#include "harness/cli/sweep_input.h"

namespace qfs::cli {
namespace {

Result<ExitCode> run_plan_command(const SweepOptions& options, const GlobalOptions& global) {
  Catalogs catalogs;
  Result<plan::Plan> plan = load_plan(options, catalogs);
  if (!plan) return plan.error();
  Result<run::RunOptions> run = run_options(options);
  if (!run) return run.error();
  if (Status sound = run::check_tokenizers(*plan, *run); !sound) return sound.error();
  const std::string store = sweep_store_path(global.store, plan->experiment.name);
  if (Status printed = print_plan(*plan, store, *run, global.json); !printed) {
    return printed.error();
  }
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
  add_json_option(command, line.global);
  command.callback([options, &line_global = line.global, &chosen = line.chosen] {
    chosen = [options, &line_global] { return run_plan_command(*options, line_global); };
  });
}

}  // namespace qfs::cli
