#include "harness/cli/chosen_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/shown_example.h"
#include "harness/core/suggest.h"
#include "harness/plan/filter.h"

namespace qfs::cli {
namespace {

/// Conditions of one key are alternatives, different keys must all hold, as in plan::matches.
bool matches(const plan::Filter& filter, const reports::PlaceFacts& place) {
  return std::ranges::all_of(filter.conditions, [&](const plan::FilterCondition& condition) {
    auto own = place.dimensions.find(condition.key);
    return own != place.dimensions.end() &&
           std::ranges::any_of(filter.conditions, [&](const plan::FilterCondition& other) {
             return other.key == condition.key && other.value == own->second;
           });
  });
}

Status check_keys(const plan::Filter& filter, const reports::SweepFacts& facts) {
  std::vector<std::string> names;
  for (const reports::PlaceFacts& place : facts.places) {
    for (const auto& [name, value] : place.dimensions) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  for (const plan::FilterCondition& condition : filter.conditions) {
    if (std::ranges::find(names, condition.key) == names.end()) {
      return not_found(fmt::format("--filter: no cell of the sweep has '{}'{}", condition.key,
                                   suggestion(condition.key, names)));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<const reports::PlaceFacts*>> matching_places(const reports::SweepFacts& facts,
                                                                const std::string& id_prefix,
                                                                const std::string& filter) {
  plan::Filter conditions;
  if (!filter.empty()) {
    Result<plan::Filter> parsed = plan::parse_filter(filter);
    if (!parsed) return parsed.error();
    conditions = *std::move(parsed);
  }
  if (Status known = check_keys(conditions, facts); !known) return known.error();
  std::vector<const reports::PlaceFacts*> found;
  for (const reports::PlaceFacts& place : facts.places) {
    if (place.cell.id.hex().starts_with(id_prefix) && matches(conditions, place)) {
      found.push_back(&place);
    }
  }
  if (found.empty()) {
    return not_found("no cell of sweep '" + facts.sweep.name +
                     "' matches; 'qfs-bench list cells' shows them");
  }
  return found;
}

Error several_places(const std::vector<const reports::PlaceFacts*>& places) {
  constexpr size_t kShown = 8;
  std::string list;
  for (size_t i = 0; i < std::min(places.size(), kShown); ++i) {
    list += fmt::format("\n  {}  {}", places[i]->cell.id.short_hex(), cell_title(*places[i]));
  }
  return invalid_argument(
      fmt::format("{} cells match; give the beginning of an id or more conditions:{}{}",
                  places.size(), list, places.size() > kShown ? "\n  …" : ""));
}

}  // namespace qfs::cli
