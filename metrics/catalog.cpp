#include "metrics/catalog.h"

#include <map>
#include <string>

#include "harness/core/suggest.h"
#include "metrics/rouge/rouge_metric.h"

namespace qfs::metrics {
namespace {

using Options = std::map<std::string, std::string, std::less<>>;

/// Reads "option=value,option=value"; an empty text has no options.
Result<Options> parse_options(std::string_view text, std::string_view name) {
  Options options;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size()) {
      return invalid_argument("metric '" + std::string(name) + "': '" + std::string(part) +
                              "' is not of the form option=value");
    }
    const auto [it, is_new] = options.emplace(part.substr(0, equals), part.substr(equals + 1));
    if (!is_new) {
      return invalid_argument("metric '" + std::string(name) + "': option '" + it->first +
                              "' is given twice");
    }
    if (comma + 1 == text.size()) {
      return invalid_argument("metric '" + std::string(name) + "': nothing follows the last ','");
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return options;
}

Result<std::shared_ptr<const Metric>> make_rouge(const Options& options, std::string_view name) {
  RougeOptions rouge;
  for (const auto& [option, value] : options) {
    if (option != "stem") {
      const std::string valid[] = {"stem"};
      return not_found("metric '" + std::string(name) + "': unknown option '" + option + "'" +
                       suggestion(option, valid));
    }
    if (value != "on" && value != "off") {
      const std::string valid[] = {"on", "off"};
      return invalid_argument("metric '" + std::string(name) + "': option stem is '" + value +
                              "', expected on or off" + suggestion(value, valid));
    }
    rouge.stem = value == "on";
  }
  return std::shared_ptr<const Metric>(std::make_shared<RougeMetric>(rouge));
}

}  // namespace

BuiltinMetrics::BuiltinMetrics() : metrics_{std::make_shared<RougeMetric>()} {}

std::vector<const Metric*> BuiltinMetrics::metrics() const {
  std::vector<const Metric*> list;
  for (const auto& metric : metrics_) list.push_back(metric.get());
  return list;
}

Result<std::shared_ptr<const Metric>> BuiltinMetrics::make(std::string_view name) const {
  const size_t colon = name.find(':');
  const std::string_view base = name.substr(0, colon);
  std::vector<std::string> names;
  for (const auto& metric : metrics_) names.emplace_back(metric->name());
  if (std::find(names.begin(), names.end(), base) == names.end()) {
    return not_found("unknown metric '" + std::string(base) + "'" + suggestion(base, names));
  }
  if (colon != std::string_view::npos && colon + 1 == name.size()) {
    return invalid_argument("metric '" + std::string(name) + "': no option follows ':'");
  }
  Result<Options> options =
      parse_options(colon == std::string_view::npos ? "" : name.substr(colon + 1), name);
  if (!options.ok()) return options.error();
  return make_rouge(*options, name);
}

}  // namespace qfs::metrics
