#include <CLI/CLI.hpp>
#include <memory>

#include "harness/cli/commands.h"
#include "harness/cli/output.h"
#include "harness/cli/report_output.h"
#include "harness/cli/run_conclusion.h"
#include "harness/cli/run_scores.h"
#include "harness/cli/scoring.h"
#include "harness/cli/slots.h"
#include "harness/cli/store_path.h"
#include "harness/cli/sweep_input.h"
#include "harness/run/run.h"

namespace qfs::cli {
namespace {

/// Scores what the run completed and prints the table; the reader sees what was committed.
Status score_and_report(const plan::Plan& plan, store::Store& store,
                        const run::RunSummary& summary) {
  if (Status there = store.check_place(); !there) return there;
  Result<store::Reader> reader = store::Reader::open(store.path());
  if (!reader) return reader.error();
  const Result<RunScores> scores = score_run(plan, store, *reader, summary);
  if (!scores) return scores.error();

  reports::ReportRequest request;
  request.sweep = plan.experiment.name;
  for (size_t i = 0; i < plan.metrics.size(); ++i) {
    request.metrics.push_back({std::get<std::string>(plan.experiment.metrics[i].value),
                               score::scored_signature(*plan.metrics[i], scores->postprocess),
                               plan.metrics[i]->columns(), plan.metrics[i]});
  }
  Result<std::string> table = report_text(*reader, store.path(), request, "markdown");
  if (!table) return table.error();
  if (Status printed = print_result(*table); !printed) return printed;
  if (Status warned = warn_of_empty_outputs(*reader, scores->results); !warned) return warned;
  // The table has the other metrics; what failed is the command's error.
  if (!scores->summary.failures.empty()) return scores->summary.failures.front();
  return {};
}

/// A sweep's own options.
struct SweepCommandOptions {
  SweepOptions sweep;
  size_t slots = 1;
};

Result<ExitCode> run_sweep(const SweepCommandOptions& command, const GlobalOptions& global) {
  const SweepOptions& options = command.sweep;
  Catalogs catalogs;
  catalogs.set_metric_threads(static_cast<unsigned>(options.threads));
  Result<plan::Plan> plan = load_plan(options, catalogs);
  if (!plan) return plan.error();
  Result<run::RunOptions> run = run_options(options);
  if (!run) return run.error();
  if (Status sound = run::check_inputs(*plan, *run); !sound) return sound.error();
  const std::string path = sweep_store_path(global.store, plan->experiment.name);
  if (options.dry_run) {
    if (Status printed = print_plan(*plan, path, *run, false); !printed) return printed.error();
    return plan->undescribed.empty() ? ExitCode::ok : ExitCode::incomplete;
  }
  if (command.slots > 1) {
    const Result<SlotsOutcome> slots = run_in_slots(*plan, path, *run, options, command.slots);
    if (!slots) return slots.error();
    if (slots->interrupted_by != 0) {
      return interrupted({.interrupted_by = slots->interrupted_by}, path);
    }
  }
  Result<store::Store> store = open_store_of(*plan, path);
  if (!store) return store.error();
  const Result<run::RunSummary> summary =
      run_shown(*plan, *store, *std::move(run), global.quiet,
                "stopping when the unit in hand is done; a second signal ends at once, without the "
                "rest of that unit");
  if (!summary) return summary.error();
  if (summary->interrupted_by != 0) return interrupted(*summary, path);
  if (Status reported = score_and_report(*plan, *store, *summary); !reported) {
    return reported.error();
  }
  return conclusion(*plan, *summary);
}

}  // namespace

void add_sweep_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "sweep", "Runs every cell of a sweep file, scores and prints the table",
      "qfs-bench sweep experiments/lc_sweep.json --set backbone=smollm2-135m");
  auto options = std::make_shared<SweepCommandOptions>();
  add_plan_options(command, options->sweep);
  add_run_options(command, options->sweep);
  command
      .add_option("--slots", options->slots,
                  "Hosts side by side on this machine, each with its share of the GPUs")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->excludes(command.get_option("--accept-numerics"));
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_sweep(*options, global); };
  });
}

}  // namespace qfs::cli
