// What commands that plan a sweep have in common: the options that choose and change a sweep, the
// plan they lead to, its run, and the host programs beside this executable. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/cli/catalogs.h"
#include "harness/plan/plan.h"
#include "harness/run/run.h"

namespace CLI {
class App;
}

namespace qfs::cli {

struct SweepOptions {
  std::string file;
  std::vector<std::string> set;     ///< "variable=value"
  std::vector<std::string> filter;  ///< "key=value,key=value"
  std::optional<int64_t> limit;
  std::vector<std::string> retry;  ///< names of failure kinds
  std::string rerun;
  std::string numerics;  ///< a file with what `qfs-host probe` says on another machine
  int64_t max_failures = 0;
  int threads = 0;
  std::string device = "cpu";
  std::string dtype;  ///< empty: the device's default
  bool accept_numerics = false;
  bool allow_external = false;
  std::optional<int64_t> steps;  ///< of each training, in this run
  std::string init;              ///< a trained file that trainings begin with
  bool dry_run = false;
};

/// Options of these commands.
void add_plan_options(CLI::App& command, SweepOptions& options);
/// `--numerics`, of `plan` alone.
void add_numerics_option(CLI::App& command, SweepOptions& options);
/// `--retry`, of commands that run cells.
void add_retry_option(CLI::App& command, SweepOptions& options);
/// `--steps` and `--init`, of `train` alone.
void add_training_options(CLI::App& command, SweepOptions& options);
/// Options that only matter when cells are run.
void add_run_options(CLI::App& command, SweepOptions& options);

/// Reads the file alone. A file that cannot be read as a sweep is a usage error
/// (`invalid_argument`), whatever is wrong with it.
Result<Experiment> load_sweep_file(const SweepOptions& options, Catalogs& catalogs);

/// The same, and resolves every cell.
Result<plan::Plan> load_plan(const SweepOptions& options, Catalogs& catalogs);
/// The same for a sweep that is read already.
Result<plan::Plan> plan_experiment(const Experiment& experiment, const SweepOptions& options,
                                   Catalogs& catalogs);

Result<run::RunOptions> run_options(const SweepOptions& options);

/// The store that a plan is run into, after what a person should know of the plan.
Result<store::Store> open_store_of(const plan::Plan& plan, const std::string& path);

/// Runs a plan with its progress on standard error. `stopping` tells what a first signal leads to.
Result<run::RunSummary> run_shown(const plan::Plan& plan, store::Store& store,
                                  run::RunOptions options, bool quiet, const std::string& stopping);

/// The error with the sweep file's name before a JSON pointer that stands alone.
Error in_sweep_file(const Experiment& experiment, Error error);

/// Seconds that are left of each cell, by the estimate and by what the store has seen.
std::vector<double> remaining_seconds(const plan::Plan& plan, const std::vector<run::Reuse>& reuse);

/// Of each training that some cell still waits for.
std::vector<std::optional<double>> training_seconds(const plan::Plan& plan,
                                                    const std::vector<run::Reuse>& reuse);

/// `plan`, and `sweep --dry-run`: prints cells, what of them the store holds, order and time.
Status print_plan(const plan::Plan& plan, const std::string& store_path,
                  const run::RunOptions& options, bool json);

}  // namespace qfs::cli
