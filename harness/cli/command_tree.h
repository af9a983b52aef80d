// CommandShape: the command line as data, read from the CLI11 tree that also parses it.
//
// Made by `completion` and `man`, read by what writes their texts (command_texts.h). Commands and
// options that help does not show are left out. Not thread-safe: CLI11's getters are not.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace qfs::cli {

/// What stands behind an option, or where an argument is.
enum class ValueKind { none, text, file, folder, choice };

struct OptionShape {
  std::vector<std::string> names;  ///< as typed: "-o", "--output"; of an argument its one name
  std::string doc;
  std::string type;   ///< what help calls the value, "FILE"; empty: a flag
  std::string range;  ///< of a number: "From 1 to 4096"
  std::string default_value;
  ValueKind kind = ValueKind::none;
  std::vector<std::string> choices;  ///< of ValueKind::choice
  int values = 0;                    ///< how many words it takes at least
  bool required = false;
  bool repeats = false;  ///< an argument: takes one word or more
};

struct CommandShape {
  std::string name;  ///< with those above it: "qfs-bench list methods"
  std::string summary;
  std::string example;  ///< lines, without indentation
  std::string notes;    ///< what else stands below its help
  std::vector<OptionShape> options;
  std::vector<OptionShape> inherited;  ///< of the commands above, which it takes too
  std::vector<OptionShape> arguments;
  std::vector<CommandShape> commands;
  bool runs_program = false;  ///< a program and its arguments stand behind its options

  /// The last word of its name.
  std::string word() const { return name.substr(name.rfind(' ') + 1); }
};

CommandShape describe_commands(CLI::App& app);

/// The command and all below it, those above before those below.
std::vector<const CommandShape*> all_commands(const CommandShape& root);

}  // namespace qfs::cli
