#include "harness/cli/main.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/commands.h"
#include "harness/core/build_info.h"
#include "harness/core/log.h"
#include "harness/core/suggest.h"

namespace qfs::cli {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 ok, 1 regression, 2 usage or configuration, 3 incomplete, 4 store or "
    "integrity,\n"
    "5 environment or data mismatch, 70 a fault of the program, 129/130/143 stopped by a signal.";

/// Further lines of a message are indented, so that none passes for a message of its own.
void complain(std::string_view text) {
  std::string line = "qfs-bench: " + terminal_safe(text);
  for (size_t at = line.find('\n'); at != line.npos; at = line.find('\n', at + 1)) {
    line.insert(at + 1, "  ");
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

/// The innermost subcommand that was named, for "… --help".
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) current = current->get_subcommands().front();
  return *current;
}

std::string full_name(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* parent = app.get_parent(); parent != nullptr;
       parent = parent->get_parent()) {
    name = parent->get_name() + " " + name;
  }
  return name;
}

/// CLI11's message, with the nearest name where a subcommand or an option was misspelt.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost(app);
  std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
      dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const std::vector<std::string> rest = app.remaining(true);
    if (!rest.empty() && rest.front().starts_with("-")) {
      std::vector<std::string> options;
      for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
      }
      message = fmt::format("no option '{}'{}", rest.front(), suggestion(rest.front(), options));
    } else if (!rest.empty() && !command.get_subcommands({}).empty()) {
      message = fmt::format("no command '{}'{}", rest.front(),
                            suggestion(rest.front(), command_names(command)));
    }
  }
  return fmt::format("{}\nRun '{} --help' for its options.", message, full_name(command));
}

constexpr const char* kMayBeEmpty = "may be empty";

bool takes_empty(CLI::Option& option) {
  try {
    return option.get_validator(kMayBeEmpty) != nullptr;
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

/// An empty value is most often a script's variable that is not set: it must not pass for none.
void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0 || takes_empty(*option)) continue;
    option->check([](const std::string& value) {
      const bool says = value.find_first_not_of(" \t\r\n") != value.npos;
      return std::string(says ? "" : "the value is empty");
    });
  }
  for (CLI::App* command : app.get_subcommands({})) refuse_empty_values(*command);
}

/// CLI11 ends a command that starts a program at "--", which users write before the program.
void drop_program_mark(const CLI::App& app, std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  auto at = arguments.begin();
  for (; at != arguments.end(); ++at) {
    const auto named = [&](const CLI::App* sub) { return sub->check_name(*at); };
    const auto found = command->get_subcommands(named);
    if (found.empty()) break;
    command = found.front();
  }
  if (!command->get_prefix_command()) return;
  for (; at != arguments.end() && at->starts_with("-"); ++at) {
    if (*at == "--") {
      arguments.erase(at);
      return;
    }
    const CLI::Option* const option = command->get_option_no_throw(*at);
    const bool takes_next = option != nullptr && option->get_items_expected_max() > 0;
    if (takes_next && at + 1 != arguments.end()) ++at;
  }
}

/// CLI11 gives "--output=" the next argument, whatever that is.
void refuse_open_assignments(const CLI::App& app, std::span<const std::string> arguments) {
  const size_t own = arguments.size() - app.remaining_size(true);  // not a program's
  for (const std::string& argument : arguments.first(own)) {
    if (argument == "--") return;
    if (argument.starts_with("--") && argument.find('=') + 1 == argument.size()) {
      throw CLI::ValidationError(argument, "the value is empty");
    }
  }
}

ExitCode run_action(const Action& action) {
  const Result<ExitCode> result = action();
  if (result) return *result;
  complain("error: " + result.error().to_string());
  if (result.error().kind == ErrorKind::internal) {
    complain("this is a defect of qfs-bench; please report it with the command that shows it");
  }
  return exit_code(result.error().kind);
}

}  // namespace

CLI::App& add_subcommand(CLI::App& parent, const std::string& name, const std::string& summary,
                         const std::string& example) {
  CLI::App& command = *parent.add_subcommand(name, summary);
  command.fallthrough();
  command.footer("Example:\n  " + example +
                 "\n\nEvery command has --store FILE, --quiet and --verbose: qfs-bench --help");
  return command;
}

CLI::Option* repeatable(CLI::Option* option) {
  return option->take_all()->expected(1)->allow_extra_args(false);
}

CLI::Option* may_be_empty(CLI::Option* option) {
  const auto any = [](std::string&) { return std::string(); };
  return option->check(CLI::Validator(any, "", kMayBeEmpty));
}

void add_json_option(CLI::App& command, GlobalOptions& global) {
  command.add_flag("--json", global.json, "Machine-readable output with a versioned schema");
}

void add_foreign_option(CLI::App& command, GlobalOptions& global) {
  command.add_flag("--foreign", global.foreign,
                   "The store is somebody else's: copy it and check its schema before reading it");
}

int run_command_line(int argc, const char* const* argv, const Services& services) {
  CLI::App app{"Runs, measures and scores methods of query-focused summarization.", "qfs-bench"};
  app.footer(std::string("Example:\n  qfs-bench sweep experiments/lc_sweep.json\n\n") + kExitCodes);
  app.set_version_flag("--version", "qfs-bench " + std::string(build_info().version));
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default(false);

  GlobalOptions global;
  Action chosen;
  app.add_option("--store", global.store,
                 "Store file (SQLite); by default the sweep's name, or the only store in this "
                 "folder")
      ->type_name("FILE");
  app.add_flag("--quiet,-q", global.quiet, "Show warnings and errors only");
  app.add_flag("--verbose,-v", global.verbose, "Show details of what is done");

  const CommandLine line{app, global, chosen, services};
  add_sweep_command(line);
  add_train_command(line);
  add_plan_command(line);
  add_noise_command(line);
  add_frontier_command(line);
  add_worker_command(line);
  add_merge_command(line);
  add_archive_commands(line);
  add_report_command(line);
  add_rouge155_command(line);
  add_score_command(line);
  add_compare_command(line);
  add_claims_command(line);
  add_reproduce_command(line);
  add_verify_command(line);
  add_gate_command(line);
  add_baseline_command(line);
  add_check_command(line);
  add_show_command(line);
  add_list_command(line);
  add_data_command(line);
  add_method_command(line);
  add_model_command(line);
  add_doctor_command(line);
  add_completion_commands(line);
  add_host_command(line);

  refuse_empty_values(app);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    drop_program_mark(app, arguments);
    app.parse(std::vector(arguments.rbegin(), arguments.rend()));
    refuse_open_assignments(app, arguments);
  } catch (const CLI::Success& wanted) {  // --help, --version
    app.exit(wanted);
    if (std::cout.flush()) return static_cast<int>(ExitCode::ok);
    complain("error: cannot write to standard output");
    return static_cast<int>(ExitCode::environment);
  } catch (const CLI::ParseError& error) {
    complain(usage_message(app, error));
    return static_cast<int>(ExitCode::usage);
  }
  if (global.quiet) set_log_level(LogLevel::quiet);
  if (global.verbose) set_log_level(LogLevel::verbose);
  return static_cast<int>(run_action(chosen));
}

}  // namespace qfs::cli
