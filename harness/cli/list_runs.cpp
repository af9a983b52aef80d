#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/cli/listings.h"
#include "harness/cli/output.h"
#include "harness/cli/store_path.h"
#include "harness/store/reader.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

/// Cells whose predictions are all there.
Result<int64_t> complete_cells(store::Reader& reader, const store::SweepId& id) {
  const Result<std::vector<store::SweepResult>> results = reader.results_of_sweep(id);
  if (!results) return results.error();
  return std::ranges::count_if(*results, [](const store::SweepResult& used) {
    return used.result.key.kind == store::ResultKind::predict &&
           used.result.status == store::Completeness::complete;
  });
}

}  // namespace

Result<ExitCode> list_runs(const GlobalOptions& global) {
  Result<store::Reader> reader = open_existing_store(global);
  if (!reader) return reader.error();
  Result<std::vector<store::SweepInfo>> runs = reader->sweeps();
  if (!runs) return runs.error();
  const store::SweepId latest = runs->empty() ? store::SweepId() : runs->front().id;
  std::ranges::sort(*runs, {}, &store::SweepInfo::number);
  json list = json::array();
  std::vector<std::vector<std::string>> rows = {
      {"run", "sweep", "id", "first run", "cells", "complete", ""}};
  for (const store::SweepInfo& run : *runs) {
    const Result<int64_t> complete = complete_cells(*reader, run.id);
    if (!complete) return complete.error();
    const bool is_latest = run.id == latest;
    list.push_back({{"run", run.number},
                    {"sweep", run.name},
                    {"sweep_id", run.id.hex()},
                    {"created_at", run.created_at},
                    {"cells", run.cells},
                    {"complete", *complete},
                    {"latest", is_latest}});
    rows.push_back({std::to_string(run.number), run.name, run.id.short_hex(), run.created_at,
                    std::to_string(run.cells), std::to_string(*complete),
                    is_latest ? "latest" : ""});
  }
  const std::string text =
      global.json ? json_document("list-runs", {{"runs", std::move(list)}}) : aligned(rows);
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace qfs::cli
