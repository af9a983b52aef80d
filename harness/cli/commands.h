// The subcommands: each function adds one to the command line and says what to run when it is
// chosen.
//
// Called by main.cpp, which lists them explicitly. A command returns its exit code or the error
// that main.cpp prints; it writes results with print_result and progress with the log.
#pragma once

#include <functional>
#include <string>

#include "harness/api/result.h"
#include "harness/cli/exit_codes.h"
#include "harness/cli/main.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace qfs::cli {

/// Options that every subcommand understands.
struct GlobalOptions {
  std::string store;     ///< --store; empty: the default of the subcommand
  bool foreign = false;  ///< --foreign: the store is a stranger's
  bool json = false;     ///< --json, on the subcommands that have it
  bool quiet = false;
  bool verbose = false;
};

/// What a subcommand does once the whole line is parsed.
using Action = std::function<Result<ExitCode>()>;

struct CommandLine {
  CLI::App& app;
  GlobalOptions& global;
  Action& chosen;
  const Services& services;
};

void add_sweep_command(const CommandLine& line);
void add_train_command(const CommandLine& line);
void add_plan_command(const CommandLine& line);
void add_noise_command(const CommandLine& line);
void add_frontier_command(const CommandLine& line);
void add_worker_command(const CommandLine& line);
void add_merge_command(const CommandLine& line);
/// `export` and `import`.
void add_archive_commands(const CommandLine& line);
void add_report_command(const CommandLine& line);
void add_rouge155_command(const CommandLine& line);
void add_score_command(const CommandLine& line);
void add_compare_command(const CommandLine& line);
void add_claims_command(const CommandLine& line);
void add_reproduce_command(const CommandLine& line);
void add_verify_command(const CommandLine& line);
void add_gate_command(const CommandLine& line);
void add_baseline_command(const CommandLine& line);
void add_check_command(const CommandLine& line);
void add_show_command(const CommandLine& line);
void add_list_command(const CommandLine& line);
void add_data_command(const CommandLine& line);
void add_method_command(const CommandLine& line);
void add_model_command(const CommandLine& line);
void add_doctor_command(const CommandLine& line);
/// `completion` and `man`, which describe all of them.
void add_completion_commands(const CommandLine& line);
void add_host_command(const CommandLine& line);

/// `gate calibrate`.
void add_calibrate_command(CLI::App& gate, const CommandLine& line);

/// A subcommand with its one-line summary, an example for its --help, and the global options.
CLI::App& add_subcommand(CLI::App& parent, const std::string& name, const std::string& summary,
                         const std::string& example);

/// An option that takes one value each time it is given, never the arguments behind it.
CLI::Option* repeatable(CLI::Option* option);
/// An option of which '' is a value; of others it is refused.
CLI::Option* may_be_empty(CLI::Option* option);

/// Adds --json.
void add_json_option(CLI::App& command, GlobalOptions& global);
/// Adds --foreign, for subcommands that only read a store.
void add_foreign_option(CLI::App& command, GlobalOptions& global);

}  // namespace qfs::cli
