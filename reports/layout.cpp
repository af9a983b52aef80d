#include "reports/layout.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "harness/core/whole_number.h"
#include "reports/settings.h"

namespace qfs::reports {
namespace {

using Labels = std::vector<std::string>;

std::string label(const PlaceFacts& place, std::string_view axis) {
  auto it = place.dimensions.find(axis);
  return it == place.dimensions.end() ? std::string{} : it->second;
}

Labels labels(const PlaceFacts& place, std::span<const std::string> axes) {
  Labels found;
  for (const std::string& axis : axes) found.push_back(label(place, axis));
  return found;
}

/// Position of every label of one axis: by number where all are numbers, else by first appearance;
/// the empty label (axis does not apply) comes first.
std::map<std::string, size_t> ranks(std::span<const PlaceFacts> places, std::string_view axis) {
  Labels order;
  for (const PlaceFacts& place : places) {
    std::string text = label(place, axis);
    if (std::ranges::find(order, text) == order.end()) order.push_back(std::move(text));
  }
  const bool numeric = std::ranges::all_of(order, [](const std::string& text) {
    return text.empty() || whole_number<double>(text).has_value();
  });
  std::ranges::stable_sort(order, [numeric](const std::string& a, const std::string& b) {
    if (a.empty() || b.empty()) return a.empty() && !b.empty();
    return numeric && *whole_number<double>(a) < *whole_number<double>(b);
  });
  std::map<std::string, size_t> rank;
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  return rank;
}

/// Distinct label lists of these axes in table order.
std::vector<Labels> entries(std::span<const PlaceFacts> places, std::span<const std::string> axes) {
  std::vector<std::map<std::string, size_t>> rank;
  for (const std::string& axis : axes) rank.push_back(ranks(places, axis));
  std::map<std::vector<size_t>, Labels> sorted;
  for (const PlaceFacts& place : places) {
    Labels found = labels(place, axes);
    std::vector<size_t> key;
    for (size_t i = 0; i < axes.size(); ++i) key.push_back(rank[i][found[i]]);
    sorted.emplace(std::move(key), std::move(found));
  }
  std::vector<Labels> list;
  for (auto& [key, found] : sorted) list.push_back(std::move(found));
  return list;
}

/// Dimensions in the order in which they are offered as additional row axes.
Labels candidates(std::span<const PlaceFacts> places) {
  Labels names = {"dataset", "method"};
  std::set<std::string> others;
  for (const PlaceFacts& place : places) {
    for (const auto& [name, value] : place.dimensions) others.insert(name);
  }
  for (const char* name : {"dataset", "method", "seed", "cell"}) others.erase(name);
  names.insert(names.end(), others.begin(), others.end());
  names.insert(names.end(), {"seed", "cell"});
  return names;
}

bool seeds_differ(const std::vector<const PlaceFacts*>& places) {
  std::set<std::string> seeds;
  return std::ranges::all_of(
      places, [&](const PlaceFacts* place) { return seeds.insert(label(*place, "seed")).second; });
}

/// The first dimension that tells apart two places with equal labels, when there are such that
/// differ in more than the seed.
std::optional<std::string> separating_axis(std::span<const PlaceFacts> places, const Labels& axes) {
  std::map<Labels, std::vector<const PlaceFacts*>> buckets;
  for (const PlaceFacts& place : places) buckets[labels(place, axes)].push_back(&place);
  for (const std::string& name : candidates(places)) {
    if (name == "seed") continue;
    for (const auto& [key, bucket] : buckets) {
      if (name == "cell" && seeds_differ(bucket)) continue;
      const std::string first = label(*bucket.front(), name);
      for (const PlaceFacts* place : bucket) {
        if (label(*place, name) != first) return name;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Layout> arrange(std::span<const PlaceFacts> places, const TableSettings& settings) {
  Labels axes_known = candidates(places);
  // A sweep's own check allows them whether or not a method reads one.
  for (const char* name : {"backbone", "tokenizer"}) axes_known.emplace_back(name);
  if (Status known = check_axes(settings, axes_known); !known) return known.error();
  Layout layout;
  layout.row_axes = settings.rows;
  layout.column_axes = settings.columns;
  const auto values = std::ranges::find(layout.column_axes, kValuesAxis);
  if (values != layout.column_axes.end()) {
    layout.values_level = static_cast<size_t>(values - layout.column_axes.begin());
    layout.column_axes.erase(values);
  } else if (layout.column_axes.empty()) {
    layout.values_level = 0;
  }
  Labels axes = layout.row_axes;
  axes.insert(axes.end(), layout.column_axes.begin(), layout.column_axes.end());
  while (std::optional<std::string> axis = separating_axis(places, axes)) {
    layout.row_axes.push_back(*axis);
    axes.push_back(*axis);
  }
  layout.rows = entries(places, layout.row_axes);
  layout.columns = entries(places, layout.column_axes);
  for (const PlaceFacts& place : places) {
    const auto row = std::ranges::find(layout.rows, labels(place, layout.row_axes));
    const auto column = std::ranges::find(layout.columns, labels(place, layout.column_axes));
    layout.slots.push_back({static_cast<size_t>(row - layout.rows.begin()),
                            static_cast<size_t>(column - layout.columns.begin())});
  }
  return layout;
}

}  // namespace qfs::reports
