#include "harness/plan/filter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "harness/core/suggest.h"
#include "harness/core/whole_number.h"
#include "harness/plan/param_values.h"
#include "harness/plan/plan.h"

namespace qfs::plan {

namespace {

constexpr std::array<std::string_view, 5> kFixedKeys = {"backbone", "dataset", "label", "method",
                                                        "seed"};
/// As in a sweep file, where it removes a key.
constexpr std::string_view kWithout = "null";
constexpr size_t kShownValues = 8;
constexpr size_t kLongestShown = 40;  // a prompt says nothing in a list of values

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Equal texts, or the same number: of a real one every way of writing it is right.
bool same(const std::string& asked, const std::string& own) {
  if (asked == own) return true;
  const std::optional<double> value = whole_number<double>(asked);
  return value && value == whole_number<double>(own);
}

/// Reads a filter from left to right.
class FilterReader {
 public:
  explicit FilterReader(std::string_view text) : rest_(text), part_(text) {}

  std::string_view until(std::string_view ends) {
    const size_t end = std::min(rest_.find_first_of(ends), rest_.size());
    const std::string_view read = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return read;
  }
  /// What stands behind a '=' or a '|', in quotes as it is; none where neither or no end follows.
  std::optional<std::string> value() {
    if (last_ != '|' && !follows('=')) return std::nullopt;
    last_ = 0;
    const std::string_view ahead = trimmed(rest_);
    if (!ahead.starts_with('"')) return std::string(trimmed(until("|,")));
    rest_ = ahead.substr(1);
    std::string value;
    while (true) {
      value += until("\"");
      if (rest_.empty()) return std::nullopt;
      rest_.remove_prefix(1);
      if (!rest_.starts_with('"')) break;
      value += '"';
      rest_.remove_prefix(1);
    }
    if (!trimmed(until("|,")).empty()) return std::nullopt;
    return value;
  }
  bool follows(char mark) {
    if (!rest_.starts_with(mark)) return false;
    rest_.remove_prefix(1);
    last_ = mark;
    if (mark == ',') part_ = rest_;
    return true;
  }
  /// The condition that is being read.
  std::string part() const { return std::string(trimmed(part_.substr(0, part_.find(',')))); }

 private:
  std::string_view rest_;
  std::string_view part_;
  char last_ = 0;
};

bool has(const CellFacts& cell, const FilterCondition& condition) {
  const auto [first, last] = cell.equal_range(condition.key);
  if (first == last) return condition.value == kWithout;
  return std::any_of(first, last,
                     [&](const auto& own) { return same(condition.value, own.second); });
}

bool matches(const Filter& filter, const CellFacts& cell) {
  std::map<std::string_view, bool> met;  // by key: whether one of its values is met
  for (const FilterCondition& condition : filter.conditions) {
    met[condition.key] = met[condition.key] || has(cell, condition);
  }
  return std::all_of(met.begin(), met.end(), [](const auto& key) { return key.second; });
}

bool any_has(std::span<const CellFacts> cells, const FilterCondition& condition) {
  return std::any_of(cells.begin(), cells.end(),
                     [&](const CellFacts& cell) { return has(cell, condition); });
}

/// The conditions under the names and values that the cells have.
Result<Filter> own_conditions(Filter filter, std::span<const CellFacts> cells) {
  std::set<std::string> keys(kFixedKeys.begin(), kFixedKeys.end());
  for (const CellFacts& cell : cells) {
    for (const auto& [name, value] : cell) keys.insert(name);
  }
  const std::vector<std::string> known(keys.begin(), keys.end());
  for (FilterCondition& condition : filter.conditions) {
    Result<std::string> own = filter.foreign.own_name(known, condition.key);
    if (!own.ok()) return invalid_argument("filter: " + own.error().message);
    condition.key = *std::move(own);
    if (!keys.contains(condition.key)) {
      return not_found("filter: no cell has a '" + condition.key + "'" +
                       suggestion(condition.key, known));
    }
    if (any_has(cells, condition)) continue;
    condition.value =
        std::get<std::string>(filter.foreign.own_value(condition.key, condition.value));
  }
  return filter;
}

Status check_value(const FilterCondition& condition, std::span<const CellFacts> cells) {
  if (any_has(cells, condition)) return {};
  std::vector<std::string> values;
  for (const CellFacts& cell : cells) {
    const auto [first, last] = cell.equal_range(condition.key);
    for (auto own = first; own != last; ++own) {
      const bool listed = std::find(values.begin(), values.end(), own->second) != values.end();
      if (!listed && own->second.size() <= kLongestShown) values.push_back(own->second);
    }
  }
  std::string message =
      "filter: no cell has " + condition.key + "=" + filter_value(condition.value);
  const auto nearest =
      whole_number<double>(condition.value) ? std::nullopt : nearest_name(condition.value, values);
  if (nearest) {
    message += "; did you mean '" + filter_value(*nearest) + "'?";
  }
  for (size_t i = 0; i < std::min(values.size(), kShownValues); ++i) {
    message += (i == 0 ? " (there are " : ", ") + filter_value(values[i]);
  }
  if (values.size() > kShownValues) message += ", …";
  return not_found(values.empty() ? message : message + ")");
}

}  // namespace

std::string filter_value(const std::string& value) {
  const bool plain = value.find_first_of(",|\"") == std::string::npos && trimmed(value) == value;
  if (plain) return value;
  std::string quoted = "\"";
  for (const char letter : value) quoted.append(letter == '"' ? 2 : 1, letter);
  return quoted + '"';
}

namespace {

CellFacts facts_of(const Plan& plan, const Cell& cell) {
  CellFacts facts;
  for (const auto& [name, value] : cell.params.values()) facts.emplace(name, value_text(value));
  facts.emplace("method", cell.spec->name());
  facts.emplace("method", cell.label);
  facts.emplace("label", cell.label);
  facts.emplace("dataset", plan.datasets[cell.dataset].name);
  for (uint64_t seed : cell.shown_seeds) facts.emplace("seed", std::to_string(seed));
  for (const MethodEntry& entry : plan.experiment.methods) {
    if (entry.pointer != cell.pointer) continue;
    facts.emplace("method", entry.method);
    if (entry.backbone) facts.emplace("backbone", *entry.backbone);
  }
  return facts;
}

}  // namespace

Result<Filter> parse_filter(std::string_view text, const ForeignNames& foreign) {
  Filter filter;
  filter.foreign = foreign;
  if (trimmed(text).empty()) return filter;
  FilterReader reader(text);
  do {
    const std::string key(trimmed(reader.until("=,")));
    do {
      const std::optional<std::string> value = reader.value();
      if (key.empty() || !value || value->empty()) {
        return invalid_argument("filter '" + std::string(text) + "': '" + reader.part() +
                                "' is not of the form key=value or key=value|value");
      }
      filter.conditions.push_back({key, *value});
    } while (reader.follows('|'));
  } while (reader.follows(','));
  return filter;
}

Result<std::vector<size_t>> matching_cells(const Filter& asked, std::span<const CellFacts> cells,
                                           std::vector<FilterCondition>* absent) {
  const Result<Filter> filter = own_conditions(asked, cells);
  if (!filter.ok()) return filter.error();
  const auto& conditions = filter->conditions;
  for (const FilterCondition& condition : conditions) {
    Status status = check_value(condition, cells);
    if (status.ok()) continue;
    const bool passed_over =
        absent != nullptr && std::any_of(conditions.begin(), conditions.end(), [&](const auto& c) {
          return c.key == condition.key && any_has(cells, c);
        });
    if (!passed_over) return status.error();
    absent->push_back(condition);
  }
  std::vector<size_t> matching;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (matches(*filter, cells[i])) matching.push_back(i);
  }
  if (!matching.empty()) return matching;
  return not_found("filter: none of the " + std::to_string(cells.size()) +
                   " cells meets all conditions");
}

Result<std::vector<size_t>> select_cells(const Filter& filter, const Plan& plan) {
  std::vector<CellFacts> facts;
  for (const Cell& cell : plan.cells) facts.push_back(facts_of(plan, cell));
  return matching_cells(filter, facts);
}

}  // namespace qfs::plan
