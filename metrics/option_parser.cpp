#include "metrics/option_parser.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/comma_parts.h"
#include "harness/core/suggest.h"
#include "harness/core/whole_number.h"

namespace qfs::metrics {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

std::string prefix(std::string_view name) { return "metric '" + std::string(name) + "': "; }

/// "on or off", "a, b or c".
std::string alternatives(const std::vector<std::string>& choices) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) text += i + 1 == choices.size() ? " or " : ", ";
    text += choices[i];
  }
  return text;
}

Status check_value(const MetricOption& option, const std::string& value, std::string_view name) {
  const std::string is = prefix(name) + "option " + option.name + " is '" + value + "', expected ";
  switch (option.type) {
    case MetricOption::Type::choice:
      if (std::ranges::find(option.choices, value) != option.choices.end()) return {};
      return invalid_argument(is + alternatives(option.choices) +
                              suggestion(value, option.choices));
    case MetricOption::Type::integer: {
      const auto number = whole_number<int64_t>(value);
      if (number && *number >= option.minimum && *number <= option.maximum) return {};
      std::string expected = "a whole number";
      if (option.minimum != INT64_MIN) expected += " from " + std::to_string(option.minimum);
      if (option.maximum != INT64_MAX) expected += " to " + std::to_string(option.maximum);
      return invalid_argument(is + expected);
    }
    case MetricOption::Type::real:
      if (whole_number<double>(value)) return {};
      return invalid_argument(is + "a number");
    case MetricOption::Type::text:
      return {};
  }
  return internal_error("an option of metric " + std::string(name) + " has no type");
}

Status read_into(Values& values, std::span<const MetricOption> declared, std::string_view text,
                 std::string_view name) {
  if (text.empty()) return {};
  std::vector<std::string> names;
  for (const MetricOption& option : declared) names.push_back(option.name);
  std::set<std::string> seen;
  const std::vector<std::string> parts = comma_parts(text);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string& part = parts[i];
    const size_t equals = part.find('=');
    if (part.empty() && i > 0 && i + 1 == parts.size()) {
      return invalid_argument(prefix(name) + "nothing follows the last ','");
    }
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
      return invalid_argument(prefix(name) + "'" + part + "' is not of the form option=value");
    }
    const std::string option_name = part.substr(0, equals);
    const std::string value = part.substr(equals + 1);
    const auto option = std::ranges::find(declared, option_name, &MetricOption::name);
    if (option == declared.end()) {
      const std::string near = names.empty() ? " (it has none)" : suggestion(option_name, names);
      return not_found(prefix(name) + "unknown option '" + option_name + "'" + near);
    }
    if (!seen.insert(option_name).second) {
      return invalid_argument(prefix(name) + "option '" + option_name + "' is given twice");
    }
    if (Status status = check_value(*option, value, name); !status) return status;
    values[option_name] = value;
  }
  return {};
}

}  // namespace

Result<MetricOptionValues> read_options(std::span<const MetricOption> declared,
                                        std::string_view preset, std::string_view given,
                                        std::string_view name) {
  Values values;
  for (const MetricOption& option : declared) values[option.name] = option.default_value;
  if (Status status = read_into(values, declared, preset, name); !status) return status.error();
  if (Status status = read_into(values, declared, given, name); !status) return status.error();
  return MetricOptionValues(std::move(values));
}

}  // namespace qfs::metrics
