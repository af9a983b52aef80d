#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/cli/catalogs.h"
#include "harness/cli/listings.h"
#include "harness/cli/output.h"
#include "reports/value.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

Result<ExitCode> printed(const std::string& text) {
  if (Status status = print_result(text); !status) return status.error();
  return ExitCode::ok;
}

json dataset_json(const DatasetInfo& info) {
  return {{"name", info.name},      {"doc", info.doc},     {"licence", info.licence},
          {"splits", info.splits},  {"views", info.views}, {"text_forms", info.text_forms},
          {"bundled", info.bundled}};
}

json metric_json(const Metric& metric) {
  return {{"name", metric.name()},
          {"doc", metric.doc()},
          {"columns", metric.columns()},
          {"signature", metric.signature()}};
}

}  // namespace

Result<ExitCode> list_datasets(const GlobalOptions& global) {
  Catalogs catalogs;
  const std::vector<DatasetInfo> infos = catalogs.datasets().list();
  if (global.json) {
    json list = json::array();
    for (const DatasetInfo& info : infos) list.push_back(dataset_json(info));
    return printed(json_document("list-datasets", {{"datasets", std::move(list)}}));
  }
  std::vector<std::vector<std::string>> rows = {
      {"name", "splits", "views", "text forms", "licence", ""}};
  for (const DatasetInfo& info : infos) {
    rows.push_back({info.name, fmt::format("{}", fmt::join(info.splits, " ")),
                    fmt::format("{}", fmt::join(info.views, " ")),
                    fmt::format("{}", fmt::join(info.text_forms, " ")), info.licence,
                    (info.bundled ? "" : "(fetched) ") + info.doc});
  }
  return printed(aligned(rows) +
                 "\nThe first of each is the default. Files of your own: "
                 "{\"path\": …, \"fields\": …} in the sweep file.\n");
}

Result<ExitCode> list_metrics(const GlobalOptions& global) {
  Catalogs catalogs;
  const std::vector<const Metric*> metrics = catalogs.metrics().metrics();
  if (global.json) {
    json list = json::array();
    for (const Metric* metric : metrics) list.push_back(metric_json(*metric));
    json values = json::array();
    for (const reports::BuiltInValue& value : reports::built_in_values()) {
      values.push_back({{"name", value.name}, {"doc", value.doc}});
    }
    return printed(json_document("list-metrics",
                                 {{"metrics", std::move(list)}, {"values", std::move(values)}}));
  }
  std::string text;
  for (const Metric* metric : metrics) {
    text += fmt::format("{}: {}\n  columns: {}\n  signature: {}\n\n", metric->name(), metric->doc(),
                        fmt::join(metric->columns(), " "), metric->signature());
  }
  text += "Other values of a table:\n";
  std::vector<std::vector<std::string>> rows;
  for (const reports::BuiltInValue& value : reports::built_in_values()) {
    rows.push_back({"  " + std::string(value.name), std::string(value.doc)});
  }
  return printed(text + aligned(rows));
}

}  // namespace qfs::cli
