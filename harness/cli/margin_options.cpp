#include "harness/cli/margin_options.h"

#include <CLI/CLI.hpp>

#include "harness/cli/commands.h"
#include "harness/compare/points.h"

namespace qfs::cli {

void add_margin_options(CLI::App& command, MarginOptions& options) {
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* doc,
                       const char* type) {
    repeatable(command.add_option(name, values, doc))->delimiter(',')->type_name(type);
  };
  add("--max-drop", options.max_drops,
      "A gate, in points of the table, e.g. rougeL.f=1pt: exit 1 when B is significantly worse by "
      "more, 3 when that cannot be decided; repeatable",
      "COLUMN=POINTSpt");
  add("--non-inferior", options.non_inferior,
      "A claim, likewise: exit 0 only when B is shown to be worse by less than this, or better",
      "COLUMN=POINTSpt");
  add("--better", options.better,
      "Which values are better, for a margin on a column that does not say it",
      "COLUMN=higher|lower");
}

Status add_margins(const MarginOptions& options, compare::Request& request) {
  for (const std::string& text : options.max_drops) {
    Status added =
        compare::add_margin(text, "--max-drop", compare::Rule::max_drop, request.margins);
    if (!added) return added;
  }
  for (const std::string& text : options.non_inferior) {
    Status added =
        compare::add_margin(text, "--non-inferior", compare::Rule::non_inferior, request.margins);
    if (!added) return added;
  }
  for (const std::string& text : options.better) {
    const size_t equals = text.find('=');
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (equals == 0 || (value != "higher" && value != "lower")) {
      return invalid_argument("--better expects COLUMN=higher or COLUMN=lower; found '" + text +
                              "'");
    }
    request.better[text.substr(0, equals)] = value == "higher" ? Better::higher : Better::lower;
  }
  return {};
}

Result<gate::Policy> policy_with(const std::string& path, const MarginOptions& options) {
  gate::Policy policy = gate::default_policy();
  if (!path.empty()) {
    Result<gate::Policy> loaded = gate::load_policy(path);
    if (!loaded) {
      Error error = loaded.error();
      if (error.kind == ErrorKind::data) error.kind = ErrorKind::invalid_argument;
      return error;
    }
    policy = *std::move(loaded);
  }
  compare::Request own;
  if (Status added = add_margins(options, own); !added) return added.error();
  for (const auto& [column, margin] : own.margins) policy.request.margins[column] = margin;
  for (const auto& [column, better] : own.better) policy.request.better[column] = better;
  return policy;
}

}  // namespace qfs::cli
