#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "harness/core/suggest.h"
#include "harness/score/match.h"

namespace qfs::score {
namespace {

constexpr size_t kMaxPrinted = 12;
constexpr double kRoundingSlack = 1e-9;

std::vector<std::string> known_columns() {
  std::vector<std::string> columns;
  for (const char* variant : {"rouge1", "rouge2", "rougeL", "rougeLsum"}) {
    for (const char* value : {".p", ".r", ".f"}) columns.push_back(variant + std::string(value));
  }
  return columns;
}

Result<MatchTarget> parse_target(const std::string& part) {
  const size_t equals = part.find('=');
  if (equals == std::string::npos) {
    return invalid_argument("--match '" + part + "' is not of the form column=value");
  }
  MatchTarget target;
  target.column = part.substr(0, equals);
  target.printed = part.substr(equals + 1);
  if (target.column.find('.') == std::string::npos) target.column += ".f";
  const std::vector<std::string> columns = known_columns();
  if (std::ranges::find(columns, target.column) == columns.end()) {
    const std::vector<std::string> names = {"rouge1", "rouge2", "rougeL", "rougeLsum"};
    return not_found("--match: unknown column '" + part.substr(0, equals) + "'" +
                     suggestion(part.substr(0, part.find('.')), names));
  }
  const std::string& digits = target.printed;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(),
                                             target.value, std::chars_format::fixed);
  const bool number = error == std::errc() && stop == digits.data() + digits.size() &&
                      digits.find_first_not_of("0123456789.") == std::string::npos &&
                      digits.size() <= kMaxPrinted;
  if (!number || target.value > 100) {
    return invalid_argument("--match " + part.substr(0, equals) + ": '" + digits +
                            "' is not a number from 0 to 100 as a table prints it");
  }
  const size_t point = digits.find('.');
  if (point != std::string::npos) target.decimals = static_cast<int>(digits.size() - point - 1);
  return target;
}

}  // namespace

bool MatchTarget::matches(double value_of_try) const {
  return std::abs(value_of_try * scale - value) <= 0.5 * std::pow(10.0, -decimals) + kRoundingSlack;
}

Result<std::vector<MatchTarget>> parse_match_targets(std::string_view text) {
  std::vector<MatchTarget> targets;
  std::set<std::string> seen;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    Result<MatchTarget> target = parse_target(std::string(text.substr(begin, end - begin)));
    if (!target) return target.error();
    if (!seen.insert(target->column).second) {
      return invalid_argument("--match gives '" + target->column + "' twice");
    }
    targets.push_back(*std::move(target));
    begin = end + 1;
  }
  const bool percent = std::ranges::any_of(targets, [](const auto& t) { return t.value > 1; });
  for (MatchTarget& target : targets) target.scale = percent ? 100 : 1;
  return targets;
}

}  // namespace qfs::score
