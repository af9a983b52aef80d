#include <fmt/format.h>

#include <string>
#include <string_view>

#include "harness/cli/command_texts.h"

namespace qfs::cli {
namespace {

/// Text of a paragraph: no character of it is a request or an escape.
std::string escaped(std::string_view text) {
  std::string roff;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) roff += "\\&";
    if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else {
      roff += c;
    }
    line_begins = c == '\n';
  }
  return roff;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string synopsis(const CommandShape& command) {
  std::string line = bold(command.name) + " [options]";
  if (!command.commands.empty()) line += " " + italic("COMMAND");
  for (const OptionShape& argument : command.arguments) {
    const std::string name = italic(argument.names.front()) + (argument.repeats ? " ..." : "");
    line += " " + (argument.required ? name : "[" + name + "]");
  }
  if (command.runs_program)
    line += " [--] " + italic("PROGRAM") + " [" + italic("ARGUMENT") + " ...]";
  return line + "\n";
}

std::string entry(const OptionShape& option, bool is_argument) {
  std::string head;
  for (const std::string& name : option.names) {
    head += (head.empty() ? "" : ", ") + (is_argument ? italic(name) : bold(name));
  }
  if (!is_argument && !option.type.empty()) head += " " + italic(option.type);
  std::string more;
  if (!option.choices.empty())
    more += fmt::format("\nOne of: {}.", fmt::join(option.choices, ", "));
  if (!option.range.empty()) more += "\n" + option.range + ".";
  if (!option.default_value.empty()) more += "\nDefault: " + option.default_value + ".";
  if (option.required) more += "\nRequired.";
  const std::string doc = option.doc + (more.empty() ? "" : ".") + more;
  return ".TP\n" + head + "\n" + escaped(doc) + "\n";
}

std::string entries(const CommandShape& command) {
  std::string text;
  for (const OptionShape& argument : command.arguments) text += entry(argument, true);
  for (const OptionShape& option : command.options) {
    if (option.names.back() == "--help" && command.name.find(' ') != std::string::npos) continue;
    text += entry(option, false);
  }
  return text;
}

std::string example(const CommandShape& command) {
  return command.example.empty() ? "" : ".EX\n" + escaped(command.example) + "\n.EE\n";
}

}  // namespace

std::string manual_page(const CommandShape& root, const std::string& version) {
  std::string page = ".\\\" Written by 'qfs-bench man' from the command line itself.\n";
  page += fmt::format(".TH QFS\\-BENCH 1 \"\" \"qfs-bench {}\" \"User Commands\"\n", version);
  page += ".nh\n.ad l\n";  // no hyphen is made that the shell would read
  page += ".SH NAME\n" + escaped(root.name) + " \\- " + escaped(root.summary) + "\n";
  page += ".SH SYNOPSIS\n" + synopsis(root);
  page += ".SH OPTIONS\nThose of " + bold(root.name) +
          " itself are understood by every command.\n" + entries(root);
  page += ".SH COMMANDS\n";
  for (const CommandShape* command : all_commands(root)) {
    if (command == &root) continue;
    page += ".SS " + escaped(command->name.substr(root.name.size() + 1)) + "\n";
    page += escaped(command->summary) + "\n.PP\n" + synopsis(*command);
    page += entries(*command);
    if (!command->example.empty()) page += ".PP\n" + example(*command);
  }
  page += ".SH EXIT STATUS\n" + escaped(root.notes) + "\n";
  return page + ".SH EXAMPLES\n" + example(root);
}

}  // namespace qfs::cli
