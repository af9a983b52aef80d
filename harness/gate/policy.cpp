#include "harness/gate/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>

#include "harness/api/metric_columns.h"
#include "harness/compare/points.h"
#include "harness/config/document.h"
#include "harness/config/node.h"
#include "harness/core/files.h"
#include "harness/core/suggest.h"

namespace qfs::gate {
namespace {

using config::Node;
using nlohmann::json;

constexpr size_t kMaxPolicyBytes = size_t{1} << 20;
constexpr double kMebibyte = 1024.0 * 1024.0;

struct MeasuredName {
  std::string_view name;
  bool less_is_better;
  bool time;
};

constexpr std::array kMeasured = {MeasuredName{"tokens_per_second", false, true},
                                  MeasuredName{"decode_tokens_per_second", false, true},
                                  MeasuredName{"prefill_tokens_per_second", false, true},
                                  MeasuredName{"seconds_per_example", true, true},
                                  MeasuredName{"peak_memory", true, false},
                                  MeasuredName{"host_peak", true, false},
                                  MeasuredName{"device_allocated_peak", true, false},
                                  MeasuredName{"device_used_peak", true, false},
                                  MeasuredName{"device_reserved_peak", true, false},
                                  MeasuredName{"device_requested_peak", true, false}};

const MeasuredName* find_measured(std::string_view value) {
  const auto found = std::ranges::find(kMeasured, value, &MeasuredName::name);
  return found == kMeasured.end() ? nullptr : &*found;
}

std::vector<std::string> measured_names() {
  std::vector<std::string> names;
  for (const MeasuredName& measured : kMeasured) names.emplace_back(measured.name);
  return names;
}

constexpr std::string_view kKeys[] = {
    "$schema",          "bands", "description", "filter",   "level",   "limits", "metrics",
    "minimum_examples", "noise", "pair_by",     "power_at", "repeats", "rule"};
constexpr std::string_view kMetricKeys[] = {"better", "margin", "noise", "rule"};
constexpr std::string_view kBandKeys[] = {"at_least", "at_most", "minimum_repetitions"};
constexpr std::string_view kLimitKeys[] = {"at_least", "at_most"};
constexpr std::string_view kRules[] = {"max_drop", "non_inferior"};
constexpr std::string_view kDirections[] = {"higher", "lower"};
constexpr std::string_view kNoises[] = {"measured", "off"};

/// A number from `low` to `high`, both outside.
double number_between(const Node& node, double low, double high) {
  const ParamValue value = node.scalar("a number");
  double number = std::nan("");
  if (const auto* real = std::get_if<double>(&value)) number = *real;
  if (const auto* integer = std::get_if<int64_t>(&value)) number = static_cast<double>(*integer);
  if (!(number > low && number < high)) {
    node.fail(fmt::format("expected a number between {:g} and {:g}", low, high));
    return low;
  }
  return number;
}

compare::Rule rule_of(const Node& node) {
  return node.choice(kRules) == "max_drop" ? compare::Rule::max_drop : compare::Rule::non_inferior;
}

/// Points of a column, from "0.5pt".
double points_of(const Node& node, const std::string& column) {
  const std::string text = node.text("points such as \"0.5pt\"");
  const auto points = compare::parse_column_points(column + "=" + text, "a margin");
  if (!points) node.fail(points.error().message);
  return points ? points->size : 0;
}

void decode_metric(const std::string& column, const Node& node, compare::Rule rule,
                   compare::Request& request) {
  compare::Margin margin{.rule = rule};
  if (node.value().is_string()) {
    margin.size = points_of(node, column);
    request.margins[column] = margin;
    return;
  }
  if (!node.is_object("points such as \"0.5pt\", or an object with a margin")) return;
  node.only_keys(kMetricKeys);
  if (const auto own = node.find("rule")) margin.rule = rule_of(*own);
  if (const auto size = node.require("margin")) margin.size = points_of(*size, column);
  if (const auto noise = node.find("noise")) margin.noise = points_of(*noise, column);
  if (const auto better = node.find("better")) {
    request.better[column] =
        better->choice(kDirections) == "higher" ? Better::higher : Better::lower;
  }
  request.margins[column] = margin;
}

Band decode_band(const std::string& value, const Node& node) {
  Band band{.value = value};
  if (!is_measured(value)) {
    node.fail("'" + value + "' is not measured" + suggestion(value, measured_names()));
    return band;
  }
  if (!node.is_object("an object with at_least or at_most, a ratio of the baseline's")) return band;
  node.only_keys(kBandKeys);
  const bool at_most = less_is_better(value);
  if (const auto wrong = node.find(at_most ? "at_least" : "at_most")) {
    wrong->fail(fmt::format("{} of {} is better: a band says {}", at_most ? "less" : "more", value,
                            at_most ? "at_most" : "at_least"));
  }
  if (const auto ratio = node.require(at_most ? "at_most" : "at_least")) {
    band.ratio = at_most ? number_between(*ratio, 0, 1000) : number_between(*ratio, 0, 1.000001);
  }
  if (const auto fewest = node.find("minimum_repetitions")) {
    band.minimum_repetitions = fewest->integer(1, 1000000);
  }
  return band;
}

void decode_limits(const std::string& value, const Node& node, std::vector<Limit>& limits) {
  if (!node.is_object("an object with at_least or at_most, such as \"20pt\" or \"600MiB\"")) return;
  node.only_keys(kLimitKeys);
  if (node.members().empty()) node.fail("missing key 'at_least' or 'at_most'");
  for (const auto& [key, bound] : node.members()) {
    const auto limit = parse_limit(value + "=" + bound.text("a bound such as \"20pt\""), "a limit",
                                   key == "at_least");
    if (!limit) bound.fail(limit.error().message);
    if (limit) limits.push_back(*limit);
  }
}

Policy decode(const Node& root) {
  Policy policy = default_policy();
  compare::Request& request = policy.request;
  root.only_keys(kKeys);
  if (const auto schema = root.find("$schema")) schema->text("the address of a schema");
  if (const auto text = root.find("description")) text->text();
  if (const auto level = root.find("level")) request.level = number_between(*level, 0, 0.5);
  compare::Rule rule = compare::Rule::non_inferior;
  if (const auto own = root.find("rule")) rule = rule_of(*own);
  if (const auto fewest = root.find("minimum_examples")) {
    request.minimum_examples = fewest->integer(0, int64_t{1} << 40);
  }
  if (const auto by = root.find("pair_by")) request.pair_by = by->names("a list of parameters");
  if (const auto filter = root.find("filter")) policy.filter = filter->text();
  if (const auto noise = root.find("noise")) {
    request.noise_floor = noise->choice(kNoises) == "measured";
  }
  if (const auto repeats = root.find("repeats")) policy.repeats = repeats->integer(1, 1000);
  if (const auto drops = root.find("power_at")) {
    policy.power_at.clear();
    for (const Node& drop : drops->items("a list of points, such as [1, 2]")) {
      policy.power_at.push_back(number_between(drop, 0, 1e9));
    }
  }
  if (const auto metrics = root.find("metrics")) {
    metrics->is_object("an object of columns and margins");
    for (const auto& [column, node] : metrics->members()) {
      decode_metric(column, node, rule, request);
    }
  }
  if (const auto bands = root.find("bands")) {
    bands->is_object("an object of measured values and bands");
    for (const auto& [value, node] : bands->members()) {
      policy.bands.push_back(decode_band(value, node));
    }
  }
  if (const auto limits = root.find("limits")) {
    limits->is_object("an object of values and limits");
    for (const auto& [value, node] : limits->members()) decode_limits(value, node, policy.limits);
  }
  return policy;
}

}  // namespace

Policy default_policy() {
  Policy policy;
  policy.request.noise_floor = true;
  policy.request.unchanged_passes = true;
  policy.request.decisions_only = true;
  return policy;
}

Result<Policy> decode_policy(std::string_view text, const std::string& path) {
  const Result<json> parsed = config::parse_document(text, path, kMaxPolicyBytes);
  if (!parsed) return parsed.error();
  config::Scope scope{path, std::nullopt};
  const Node root(*parsed, "", scope);
  root.is_object("a policy as one object");
  Policy policy = decode(root);
  if (scope.failure) return *scope.failure;
  return policy;
}

Result<Policy> load_policy(const std::string& path) {
  const Result<std::string> text = read_file(path, kMaxPolicyBytes);
  if (!text) return text.error();
  return decode_policy(*text, path);
}

bool is_measured(std::string_view value) { return find_measured(value) != nullptr; }

bool less_is_better(std::string_view measured) {
  const MeasuredName* known = find_measured(measured);
  return known != nullptr && known->less_is_better;
}

bool is_time(std::string_view measured) {
  const MeasuredName* known = find_measured(measured);
  return known != nullptr && known->time;
}

double measured_scale(std::string_view measured) { return is_time(measured) ? 1 : 1 / kMebibyte; }

Result<Limit> parse_limit(std::string_view text, std::string_view option, bool at_least) {
  const size_t equals = text.find('=');
  const std::string value(text.substr(0, equals));
  if (!is_measured(value)) {
    const auto points = compare::parse_column_points(text, option);
    if (!points) return points.error();
    return Limit{value, points->size * table_scale(value), at_least};
  }
  const std::string_view number = equals == text.npos ? "" : text.substr(equals + 1);
  double bound = 0;
  const char* const last = number.data() + number.size();
  const auto [end, error] = std::from_chars(number.data(), last, bound);
  const std::string_view unit(end, static_cast<size_t>(last - end));
  const std::string_view wanted = is_time(value) ? "" : "MiB";
  if (error != std::errc() || !std::isfinite(bound) || bound <= 0 || unit != wanted) {
    return invalid_argument(fmt::format("{} expects {}, for instance {}={}; found '{}'", option,
                                        wanted.empty() ? "a number above 0" : "a number of MiB",
                                        value, wanted.empty() ? "50" : "600MiB", text));
  }
  return Limit{value, bound, at_least};
}

}  // namespace qfs::gate
