#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/api/metric_entry.h"
#include "harness/cli/catalogs.h"
#include "harness/cli/listings.h"
#include "harness/cli/output.h"
#include "harness/core/suggest.h"
#include "reports/value.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

std::string_view type_name(MetricOption::Type type) {
  switch (type) {
    case MetricOption::Type::choice:
      return "choice";
    case MetricOption::Type::integer:
      return "integer";
    case MetricOption::Type::real:
      return "real";
    case MetricOption::Type::text:
      return "text";
  }
  return "text";
}

std::string values_text(const MetricOption& option) {
  if (!option.choices.empty()) return fmt::format("{}", fmt::join(option.choices, " | "));
  if (option.type != MetricOption::Type::integer) return std::string(type_name(option.type));
  std::string text = "whole number";
  if (option.minimum != INT64_MIN) text += fmt::format(" from {}", option.minimum);
  if (option.maximum != INT64_MAX) text += fmt::format(" to {}", option.maximum);
  return text;
}

json option_json(const MetricOption& option) {
  json object = {{"name", option.name},
                 {"type", type_name(option.type)},
                 {"default", option.default_value},
                 {"doc", option.doc}};
  if (!option.choices.empty()) object["values"] = option.choices;
  if (option.minimum != INT64_MIN) object["minimum"] = option.minimum;
  if (option.maximum != INT64_MAX) object["maximum"] = option.maximum;
  return object;
}

json metric_json(const MetricInfo& info) {
  json aliases = json::array();
  for (const MetricAlias& alias : info.entry.aliases) {
    aliases.push_back({{"name", alias.name}, {"options", alias.options}, {"doc", alias.doc}});
  }
  json options = json::array();
  for (const MetricOption& option : info.entry.options) options.push_back(option_json(option));
  json object = {
      {"name", info.entry.name}, {"aliases", std::move(aliases)}, {"options", std::move(options)}};
  if (info.metric) {
    object["doc"] = info.metric->doc();
    object["columns"] = info.metric->columns();
    object["signature"] = info.metric->signature();
  }
  return object;
}

std::string metric_text(const MetricInfo& info) {
  std::string text = info.entry.name;
  if (info.metric) {
    text += fmt::format(": {}\n  columns: {}\n  signature: {}", info.metric->doc(),
                        fmt::join(info.metric->columns(), " "), info.metric->signature());
  } else {
    text += ": with its defaults it needs data that are not here; `score` with it says which";
  }
  text += "\n";
  for (const MetricAlias& alias : info.entry.aliases) {
    text += fmt::format("  also: {}{}{} ({})\n", alias.name, alias.options.empty() ? "" : " = ",
                        alias.options, alias.doc);
  }
  if (info.entry.options.empty()) return text + "\n";
  std::vector<std::vector<std::string>> rows = {{"  option", "default", "values", ""}};
  for (const MetricOption& option : info.entry.options) {
    rows.push_back({"  " + option.name, option.default_value, values_text(option), option.doc});
  }
  return text + aligned(rows) + "\n";
}

}  // namespace

Result<ExitCode> list_metrics(const GlobalOptions& global, const std::string& name) {
  Catalogs catalogs;
  std::vector<MetricInfo> metrics = catalogs.metrics().list();
  if (!name.empty()) {
    std::vector<std::string> names;
    std::erase_if(metrics, [&](const MetricInfo& info) {
      std::vector<std::string> own = {info.entry.name};
      for (const MetricAlias& alias : info.entry.aliases) own.push_back(alias.name);
      names.insert(names.end(), own.begin(), own.end());
      return std::ranges::count(own, name) == 0;
    });
    if (metrics.empty()) {
      return not_found("there is no metric '" + name + "'" + suggestion(name, names));
    }
  }
  std::string text;
  if (global.json) {
    json list = json::array();
    for (const MetricInfo& info : metrics) list.push_back(metric_json(info));
    json values = json::array();
    for (const reports::BuiltInValue& value : reports::built_in_values()) {
      values.push_back({{"name", value.name}, {"doc", value.doc}});
    }
    text = json_document("list-metrics",
                         {{"metrics", std::move(list)}, {"values", std::move(values)}});
  } else {
    for (const MetricInfo& info : metrics) text += metric_text(info);
    text += "Options: \"metric:option=value,option=value\".";
    std::vector<std::vector<std::string>> rows;
    for (const reports::BuiltInValue& value : reports::built_in_values()) {
      rows.push_back({"  " + std::string(value.name), std::string(value.doc)});
    }
    text += name.empty() ? " Other values of a table:\n" + aligned(rows) : "\n";
  }
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace qfs::cli
