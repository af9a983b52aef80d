#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "harness/config/sections.h"

namespace qfs::config {

namespace {

/// What a rule can name besides parameters; as an axis, each has its own list elsewhere.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kOtherDimensions = {{
    {"artifact", "list the method once for each trained file, with a 'label'"},
    {"backbone", "list the method once for each backbone, with a 'label'"},
    {"dataset", "list the data sets in 'datasets'"},
    {"documents", "list the method once for each, with a 'label'"},
    {"label", "list the methods in 'methods'"},
    {"method", "list the methods in 'methods'"},
    {"seed", "list the seeds in 'seeds'"},
    {"tokenizer", "list the method once for each tokenizer, with a 'label'"},
    {"training", "list the method once for each training, with a 'label'"},
}};

GridAxis decode_axis(const std::string& name, const Node& node, const std::string& folder) {
  GridAxis axis{name, {}, node.pointer()};
  check_parameter_name(name, node);
  for (const auto& [dimension, advice] : kOtherDimensions) {
    if (name == dimension) {
      node.fail("'" + name + "' is not a parameter: " + std::string(advice));
    }
  }
  for (const Node& item : node.items("a list of values")) {
    axis.values.push_back(decode_parameter(name, item, folder));
  }
  return axis;
}

AxisGroup decode_zip_group(const Node& node, const std::string& folder) {
  AxisGroup group;
  if (!node.is_object("an object of lists of equal length")) return group;
  for (const auto& [name, member] : node.members()) {
    group.axes.push_back(decode_axis(name, member, folder));
    const size_t length = group.axes.front().values.size();
    if (group.axes.back().values.size() != length) {
      member.fail("has " + std::to_string(group.axes.back().values.size()) + " values, but '" +
                  group.axes.front().name + "' has " + std::to_string(length) +
                  ": the lists of a zip group have equal lengths");
    }
  }
  if (group.axes.size() < 2) node.fail("a zip group has at least two lists");
  return group;
}

/// Fails when two rows of a group are equal.
void check_rows(const AxisGroup& group, const Node& node) {
  if (node.scope().failure || group.axes.empty()) return;
  const size_t rows = group.axes.front().values.size();
  for (size_t later = 1; later < rows; ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) {
      const bool equal = std::all_of(group.axes.begin(), group.axes.end(), [&](const auto& axis) {
        return axis.values[earlier] == axis.values[later];
      });
      if (equal) {
        node.fail("values " + std::to_string(earlier) + " and " + std::to_string(later) +
                  " are equal (counted from 0)");
      }
    }
  }
}

NamedValue decode_condition(const std::string& key, const Node& node, const std::string& folder) {
  if (key == "method" || key == "dataset" || key == "label") {
    return {key, node.text("the name of a " + (key == "dataset" ? "data set" : key)),
            node.pointer()};
  }
  if (key == "seed") {
    return {key, node.integer(0, std::numeric_limits<int64_t>::max()), node.pointer()};
  }
  check_parameter_name(key, node);
  return {key, decode_parameter(key, node, folder), node.pointer()};
}

}  // namespace

std::vector<AxisGroup> decode_grid(const Node& node, const std::string& folder) {
  std::vector<AxisGroup> groups;
  if (!node.is_object("an object from parameter to list of values")) return groups;
  for (const auto& [name, member] : node.members()) {
    groups.push_back({{decode_axis(name, member, folder)}});
    check_rows(groups.back(), member);
  }
  if (groups.empty()) node.fail("the grid has no axis");
  return groups;
}

std::vector<AxisGroup> decode_zip(const Node& node, const std::string& folder) {
  std::vector<AxisGroup> groups;
  for (const Node& item : node.items("a list of zip groups")) {
    groups.push_back(decode_zip_group(item, folder));
    check_rows(groups.back(), item);
  }
  return groups;
}

void check_axes(const std::vector<AxisGroup>& groups, const Node& root) {
  std::map<std::string, std::string> seen;  // name -> pointer
  for (const AxisGroup& group : groups) {
    for (const GridAxis& axis : group.axes) {
      const auto [it, fresh] = seen.emplace(axis.name, axis.pointer);
      if (fresh) continue;
      Node(root.value(), axis.pointer, root.scope())
          .fail("'" + axis.name + "' is already an axis at " + it->second);
    }
  }
}

std::vector<GridRule> decode_rules(const Node& node, const std::string& folder) {
  std::vector<GridRule> rules;
  for (const Node& item : node.items("a list of objects")) {
    GridRule rule;
    rule.pointer = item.pointer();
    if (item.is_object("an object of conditions") && item.members().empty()) {
      item.fail("the object is empty; expected conditions such as {\"method\": …}");
    }
    for (const auto& [key, member] : item.members()) {
      rule.values.push_back(decode_condition(key, member, folder));
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace qfs::config
