#include "harness/plan/filter.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "harness/core/suggest.h"
#include "harness/plan/param_values.h"
#include "harness/plan/plan.h"

namespace qfs::plan {

namespace {

constexpr std::array<std::string_view, 5> kFixedKeys = {"backbone", "dataset", "label", "method",
                                                        "seed"};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool meets(const FilterCondition& condition, const CellFacts& cell) {
  const std::string& value = condition.value;
  if (condition.key == "method") return value == cell.method || value == cell.entry_method;
  if (condition.key == "label") return value == cell.label;
  if (condition.key == "dataset") return value == cell.dataset;
  if (condition.key == "backbone") return value == cell.backbone;
  if (condition.key == "seed") return value == std::to_string(cell.seed);
  const auto it = cell.params->values().find(condition.key);
  return it != cell.params->values().end() && text_equals(value, it->second);
}

CellFacts facts_of(const Plan& plan, const Cell& cell) {
  CellFacts facts;
  facts.method = cell.spec->name();
  facts.label = cell.label;
  facts.dataset = plan.datasets[cell.dataset].name;
  facts.seed = cell.seed;
  facts.params = &cell.params;
  for (const MethodEntry& entry : plan.experiment.methods) {
    if (entry.pointer != cell.pointer) continue;
    facts.entry_method = entry.method;
    if (entry.backbone) facts.backbone = *entry.backbone;
  }
  return facts;
}

}  // namespace

Result<Filter> parse_filter(std::string_view text) {
  Filter filter;
  if (trimmed(text).empty()) return filter;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    const size_t equals = part.find('=');
    const std::string_view key = trimmed(part.substr(0, equals));
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : trimmed(part.substr(equals + 1));
    if (key.empty() || value.empty()) {
      return invalid_argument("filter '" + std::string(text) + "': '" + std::string(part) +
                              "' is not of the form key=value");
    }
    filter.conditions.push_back({std::string(key), std::string(value)});
  }
  return filter;
}

bool matches(const Filter& filter, const CellFacts& cell) {
  std::map<std::string_view, bool> met;  // by key: whether one of its values is met
  for (const FilterCondition& condition : filter.conditions) {
    met[condition.key] = met[condition.key] || meets(condition, cell);
  }
  return std::all_of(met.begin(), met.end(), [](const auto& key) { return key.second; });
}

Status check_filter_keys(const Filter& filter, std::span<const CellFacts> cells) {
  std::set<std::string> keys(kFixedKeys.begin(), kFixedKeys.end());
  for (const CellFacts& cell : cells) {
    for (const auto& [name, value] : cell.params->values()) keys.insert(name);
  }
  const std::vector<std::string> candidates(keys.begin(), keys.end());
  for (const FilterCondition& condition : filter.conditions) {
    if (keys.contains(condition.key)) continue;
    return not_found("filter: no cell has a '" + condition.key + "'" +
                     suggestion(condition.key, candidates));
  }
  return {};
}

Result<std::vector<size_t>> select_cells(const Filter& filter, const Plan& plan) {
  std::vector<CellFacts> facts;
  for (const Cell& cell : plan.cells) facts.push_back(facts_of(plan, cell));
  if (Status status = check_filter_keys(filter, facts); !status.ok()) return status.error();
  std::vector<size_t> selected;
  for (size_t i = 0; i < facts.size(); ++i) {
    if (matches(filter, facts[i])) selected.push_back(i);
  }
  if (selected.empty()) return not_found("filter: none of the plan's cells matches");
  return selected;
}

}  // namespace qfs::plan
