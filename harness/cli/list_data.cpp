#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "datasets/readers/file_set.h"
#include "harness/cli/catalogs.h"
#include "harness/cli/listings.h"
#include "harness/cli/output.h"

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

}  // namespace

Result<ExitCode> list_datasets(const GlobalOptions& global) {
  Catalogs catalogs;
  const std::vector<DatasetInfo> infos = catalogs.datasets().list();
  if (global.json) {
    json list = json::array();
    for (const DatasetInfo& info : infos) list.push_back(dataset_json(info));
    return printed(json_document("list-datasets", {{"datasets", std::move(list)}}));
  }
  const auto origin = [](const DatasetInfo& info) {
    if (info.bundled) return "";
    return datasets::is_brought(info.name) ? "(your files) " : "(fetched) ";
  };
  std::vector<std::vector<std::string>> rows = {
      {"name", "splits", "views", "text forms", "licence", ""}};
  for (const DatasetInfo& info : infos) {
    rows.push_back({info.name, fmt::format("{}", fmt::join(info.splits, " ")),
                    fmt::format("{}", fmt::join(info.views, " ")),
                    fmt::format("{}", fmt::join(info.text_forms, " ")), info.licence,
                    origin(info) + info.doc});
  }
  return printed(aligned(rows) +
                 "\nThe first of each is the default. Files of your own: "
                 "{\"path\": …, \"fields\": …} in the sweep file.\n");
}

}  // namespace qfs::cli
