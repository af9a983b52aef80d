#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/command_texts.h"

namespace qfs::cli {
namespace {

constexpr std::string_view kWalk = R"(
# The command before the cursor: 'qfs-bench list methods'.
function __qfs_bench_command
    set -l command qfs-bench
    set -l pending 0
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if test $pending -gt 0
            set pending (math $pending - 1)
        else if string match -q -- '-*' $word
            set pending (__qfs_bench_values "$command $word")
        else if contains -- "$command $word" $__qfs_bench_commands
            set command "$command $word"
        end
    end
    echo $command
end

function __qfs_bench_at
    test (__qfs_bench_command) = "$argv"
end

)";

/// In single quotes, where fish knows two escapes.
std::string fish_quoted(std::string_view text) {
  std::string line = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') line += '\\';
    line += c;
  }
  return line + "'";
}

/// How many words options take; what is in no line is a flag.
std::string values_function(const std::vector<const CommandShape*>& commands) {
  std::string text = "function __qfs_bench_values\n    switch $argv\n";
  for (auto at = commands.rbegin(); at != commands.rend(); ++at) {
    for (const OptionShape& option : (*at)->options) {
      if (option.values == 0) continue;
      text += "        case";
      for (const std::string& name : option.names) {
        text += " " + fish_quoted((*at)->name + "* " + name);
      }
      text += fmt::format("\n            echo {}\n", option.values);
    }
  }
  return text + "        case '*'\n            echo 0\n    end\nend\n";
}

/// The words to choose from, which fish splits at spaces.
std::string choices_of(const OptionShape& option) {
  std::string words;
  for (const std::string& choice : option.choices) {
    if (!words.empty()) words += ' ';
    for (const char c : choice) words += c == ' ' ? std::string("\\ ") : std::string(1, c);
  }
  return words;
}

std::string value_words(const OptionShape& option) {
  switch (option.kind) {
    case ValueKind::none:
      return "";
    case ValueKind::text:
      return " -x";
    case ValueKind::file:
      return " -r -F";
    case ValueKind::folder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::choice:
      return " -x -a " + fish_quoted(choices_of(option));
  }
  return "";
}

std::string option_line(const std::string& condition, const OptionShape& option) {
  std::string line = condition;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    line += (is_long ? " -l " : " -s ") + name.substr(is_long ? 2 : 1);
  }
  return line + value_words(option) + " -d " + fish_quoted(option.doc) + "\n";
}

}  // namespace

std::string fish_completion(const CommandShape& root) {
  const std::vector<const CommandShape*> commands = all_commands(root);
  std::string text =
      "# Completion of qfs-bench for fish, written by 'qfs-bench completion fish': write it again "
      "rather than change it.\n\nset -g __qfs_bench_commands";
  for (const CommandShape* command : commands) text += " " + fish_quoted(command->name);
  text += "\n\n" + values_function(commands) + std::string(kWalk);
  for (const CommandShape* command : commands) {
    const std::string condition =
        "complete -c qfs-bench -n " + fish_quoted("__qfs_bench_at " + command->name);
    for (const CommandShape& sub : command->commands) {
      text += condition + " -f -a " + sub.word() + " -d " + fish_quoted(sub.summary) + "\n";
    }
    for (const auto* list : {&command->options, &command->inherited}) {
      for (const OptionShape& option : *list) text += option_line(condition, option);
    }
    if (command->commands.empty() && !command->arguments.empty() &&
        !command->arguments.front().choices.empty()) {
      text += condition + " -f -a " + fish_quoted(choices_of(command->arguments.front())) + "\n";
    }
  }
  return text;
}

}  // namespace qfs::cli
