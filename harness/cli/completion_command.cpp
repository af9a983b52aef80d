#include <CLI/CLI.hpp>
#include <memory>

#include "harness/cli/command_texts.h"
#include "harness/cli/command_tree.h"
#include "harness/cli/commands.h"
#include "harness/cli/output.h"
#include "harness/core/build_info.h"

namespace qfs::cli {
namespace {

std::string completion_for(const std::string& shell, const CommandShape& commands) {
  if (shell == "bash") return bash_completion(commands);
  return shell == "zsh" ? zsh_completion(commands) : fish_completion(commands);
}

Result<ExitCode> printed(const std::string& text) {
  if (Status status = print_result(text); !status) return status.error();
  return ExitCode::ok;
}

}  // namespace

void add_completion_commands(const CommandLine& line) {
  CLI::App& completion = add_subcommand(
      line.app, "completion", "Prints what makes a shell complete commands, options and values",
      "qfs-bench completion fish > ~/.config/fish/completions/qfs-bench.fish\n"
      "  source <(qfs-bench completion bash)");
  auto shell = std::make_shared<std::string>();
  completion.add_option("SHELL", *shell, "Which shell the script is for")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion.callback([shell, &app = line.app, &chosen = line.chosen] {
    chosen = [shell, &app] { return printed(completion_for(*shell, describe_commands(app))); };
  });

  CLI::App& manual = add_subcommand(line.app, "man", "Prints the manual page of all commands",
                                    "qfs-bench man | man -l -");
  manual.callback([&app = line.app, &chosen = line.chosen] {
    chosen = [&app] {
      return printed(manual_page(describe_commands(app), std::string(build_info().version)));
    };
  });
}

}  // namespace qfs::cli
