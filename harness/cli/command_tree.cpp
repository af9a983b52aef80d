#include "harness/cli/command_tree.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

namespace qfs::cli {
namespace {

constexpr std::array<std::string_view, 4> kFileTypes = {"FILE", "PATH", "PATH|none", "STORE"};
constexpr std::array<std::string_view, 2> kFolderTypes = {"FOLDER", "DIR"};

template <size_t N>
bool holds(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What the option's checks say of themselves: "{cpu,cuda}", "INT in [1 - 4096]".
std::vector<std::string> check_descriptions(CLI::Option& option) {
  std::vector<std::string> descriptions;
  for (int index = 0;; ++index) {
    try {
      descriptions.push_back(option.get_validator(index)->get_description());
    } catch (const CLI::OptionNotFound&) {
      return descriptions;
    }
  }
}

/// "INT in [1 - 4096]" in words.
std::string range_words(const std::string& says) {
  const size_t from = says.find(" in [");
  const size_t to = says.find(" - ", from);
  if (from != says.npos && to != says.npos && says.ends_with(']')) {
    return "From " + says.substr(from + 5, to - from - 5) + " to " +
           says.substr(to + 3, says.size() - to - 4);
  }
  return says == "NONNEGATIVE" ? "At least 0" : says;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

ValueKind kind_of(const CLI::Option& option, const OptionShape& shape) {
  if (!shape.choices.empty()) return ValueKind::choice;
  if (holds(kFolderTypes, shape.type)) return ValueKind::folder;
  // Most arguments are files, and shells complete files where they know nothing better.
  if (option.get_positional() || holds(kFileTypes, shape.type)) return ValueKind::file;
  return ValueKind::text;
}

OptionShape describe_option(CLI::Option& option) {
  OptionShape shape;
  shape.names = names_of(option);
  shape.doc = option.get_description();
  shape.required = option.get_required();
  if (option.get_items_expected_max() == 0) return shape;
  shape.type = option.get_type_name();
  shape.default_value = option.get_default_str();
  shape.values = std::max(1, option.get_items_expected_min());
  shape.repeats = option.get_positional() && option.get_expected_max() > 1;
  for (const std::string& says : check_descriptions(option)) {
    if (says.empty()) continue;
    shape.type.resize(shape.type.size() - says.size() - 1);  // ":" and the description
    if (says.starts_with('{') && says.ends_with('}')) {
      shape.choices = CLI::detail::split(says.substr(1, says.size() - 2), ',');
    } else {
      shape.range = range_words(says);
    }
  }
  shape.kind = kind_of(option, shape);
  return shape;
}

/// "Example:", its indented lines, and after an empty line the notes.
void take_footer(const std::string& footer, CommandShape& shape) {
  constexpr std::string_view kHeading = "Example:\n";
  if (!footer.starts_with(kHeading)) {
    shape.notes = footer;
    return;
  }
  const size_t end = std::min(footer.find("\n\n"), footer.size());
  shape.notes = footer.substr(std::min(end + 2, footer.size()));
  for (std::string line :
       CLI::detail::split(footer.substr(kHeading.size(), end - kHeading.size()), '\n')) {
    line.erase(0, line.find_first_not_of(' '));
    shape.example += (shape.example.empty() ? "" : "\n") + line;
  }
}

CommandShape describe(CLI::App& app, const std::string& above, std::vector<OptionShape> inherited) {
  CommandShape shape;
  shape.name = above + app.get_name();
  shape.summary = app.get_description();
  shape.inherited = std::move(inherited);
  shape.runs_program = app.get_prefix_command();
  take_footer(app.get_footer(), shape);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? shape.arguments : shape.options)
        .push_back(describe_option(*option));
  }
  std::vector<OptionShape> below = shape.inherited;
  for (const OptionShape& option : shape.options) {
    const bool everywhere = option.names.back() != "--help" && option.names.back() != "--version";
    if (everywhere) below.push_back(option);
  }
  for (CLI::App* command : app.get_subcommands({})) {
    if (command->get_group().empty()) continue;
    shape.commands.push_back(describe(*command, shape.name + " ", below));
  }
  return shape;
}

void collect(const CommandShape& shape, std::vector<const CommandShape*>& all) {
  all.push_back(&shape);
  for (const CommandShape& command : shape.commands) collect(command, all);
}

}  // namespace

CommandShape describe_commands(CLI::App& app) { return describe(app, "", {}); }

std::vector<const CommandShape*> all_commands(const CommandShape& root) {
  std::vector<const CommandShape*> all;
  collect(root, all);
  return all;
}

}  // namespace qfs::cli
