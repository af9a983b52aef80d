#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "harness/core/suggest.h"
#include "harness/score/match.h"

namespace qfs::score {
namespace {

constexpr size_t kMaxPrinted = 12;
constexpr double kRoundingSlack = 1e-9;

struct Column {
  std::string_view name;
  MatchFamily family;
  bool has_statistics;  ///< ".p", ".r" and ".f"
};
constexpr Column kColumns[] = {
    {"rouge1", MatchFamily::rouge, true},       {"rouge2", MatchFamily::rouge, true},
    {"rougeL", MatchFamily::rouge, true},       {"rougeLsum", MatchFamily::rouge, true},
    {"bleu", MatchFamily::bleu, false},         {"chrf", MatchFamily::chrf, false},
    {"bertscore", MatchFamily::bertscore, true}};

Result<const Column*> column_named(const std::string& given) {
  const size_t point = given.find('.');
  const std::string name = given.substr(0, point);
  const std::string statistic = point == given.npos ? "" : given.substr(point);
  std::vector<std::string> names;
  for (const Column& column : kColumns) {
    names.emplace_back(column.name);
    if (column.name != name) continue;
    const bool known = statistic == ".p" || statistic == ".r" || statistic == ".f";
    if (statistic.empty() || (column.has_statistics && known)) return &column;
  }
  return not_found("--match: unknown column '" + given + "'" + suggestion(name, names));
}

Result<MatchTarget> parse_target(const std::string& part) {
  const size_t equals = part.find('=');
  if (equals == std::string::npos) {
    return invalid_argument("--match '" + part + "' is not of the form column=value");
  }
  MatchTarget target;
  target.column = part.substr(0, equals);
  target.printed = part.substr(equals + 1);
  const Result<const Column*> column = column_named(target.column);
  if (!column) return column.error();
  target.family = (*column)->family;
  if ((*column)->has_statistics && target.column.find('.') == std::string::npos) {
    target.any_statistic = true;
    target.column += ".f";
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

Result<std::vector<std::vector<MatchTarget>>> parse_match_targets(std::string_view text) {
  std::map<MatchFamily, std::vector<MatchTarget>> families;
  std::set<std::string> seen;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    Result<MatchTarget> target = parse_target(std::string(text.substr(begin, end - begin)));
    if (!target) return target.error();
    if (!seen.insert(target->column).second) {
      return invalid_argument("--match gives '" + target->column + "' twice");
    }
    families[target->family].push_back(*std::move(target));
    begin = end + 1;
  }
  std::vector<std::vector<MatchTarget>> result;
  for (auto& [family, targets] : families) {
    const bool of_100 = family == MatchFamily::bleu || family == MatchFamily::chrf;
    const bool percent = std::ranges::any_of(targets, [](const auto& t) { return t.value > 1; });
    for (MatchTarget& target : targets) target.scale = percent && !of_100 ? 100 : 1;
    result.push_back(std::move(targets));
  }
  return result;
}

}  // namespace qfs::score
