#include <nlohmann/json.hpp>
#include <set>

#include "harness/cli/listings.h"
#include "harness/cli/output.h"
#include "harness/cli/store_path.h"
#include "reports/sweep_facts.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

std::string status_text(const std::optional<store::ResultRow>& result) {
  if (!result) return "not started";
  std::string text(to_string(result->status));
  if (result->status == store::Completeness::failed) {
    text += " (" + std::string(to_string(result->failure)) + ")";
  } else if (result->status == store::Completeness::incomplete) {
    text += " (" + std::to_string(result->done) + "/" + std::to_string(result->expected) + ")";
  }
  return result->running ? text + ", running" : text;
}

json result_json(const std::optional<store::ResultRow>& result) {
  if (!result) return {{"status", "not_started"}};
  json object = {{"status", to_string(result->status)},
                 {"done", result->done},
                 {"expected", result->expected},
                 {"numerics_id", result->key.numerics.hex()},
                 {"running", result->running}};
  if (result->failure != store::FailureKind::none) {
    object["failure"] = to_string(result->failure);
    object["message"] = result->failure_text;
  }
  return object;
}

/// Dimensions that tell the sweep's cells apart, "method" and "dataset" first.
std::vector<std::string> shown_dimensions(const reports::SweepFacts& facts) {
  std::map<std::string, std::set<std::string>> values;
  for (const reports::PlaceFacts& place : facts.places) {
    for (const auto& [name, value] : place.dimensions) values[name].insert(value);
  }
  std::vector<std::string> shown = {"method", "dataset"};
  for (const auto& [name, seen] : values) {
    if (seen.size() > 1 && name != "method" && name != "dataset" && name != "cell") {
      shown.push_back(name);
    }
  }
  return shown;
}

std::string cells_json(const reports::SweepFacts& facts) {
  json cells = json::array();
  for (const reports::PlaceFacts& place : facts.places) {
    json dimensions = place.dimensions;
    dimensions.erase("cell");
    json metrics = json::array();
    for (const store::ScoreJobRow& job : place.scores) metrics.push_back(job.signature);
    cells.push_back({{"cell_id", place.cell.id.hex()},
                     {"dimensions", std::move(dimensions)},
                     {"oracle", place.cell.oracle},
                     {"predict", result_json(place.predict)},
                     {"scores", std::move(metrics)}});
    if (!place.place.measure_ordinals.empty()) cells.back()["measure"] = result_json(place.measure);
  }
  return json_document("list-cells", {{"sweep", facts.sweep.name},
                                      {"sweep_id", facts.sweep.id.hex()},
                                      {"cells", std::move(cells)}});
}

std::string cells_text(const reports::SweepFacts& facts) {
  const std::vector<std::string> shown = shown_dimensions(facts);
  std::vector<std::vector<std::string>> rows = {{"cell"}};
  rows[0].insert(rows[0].end(), shown.begin(), shown.end());
  rows[0].insert(rows[0].end(), {"predictions", "measurement", "scores"});
  for (const reports::PlaceFacts& place : facts.places) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(place.cell.id.short_hex());
    for (const std::string& name : shown) {
      auto value = place.dimensions.find(name);
      row.push_back(value == place.dimensions.end() ? "–" : value->second);
    }
    row.push_back(status_text(place.predict));
    row.push_back(place.place.measure_ordinals.empty() ? "–" : status_text(place.measure));
    row.push_back(std::to_string(place.scores.size()));
  }
  return aligned(rows);
}

}  // namespace

Result<ExitCode> list_cells(const GlobalOptions& global) {
  Result<store::Reader> reader = open_existing_store(global);
  if (!reader) return reader.error();
  Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, "");
  if (!facts) return facts.error();
  if (Status printed = print_result(global.json ? cells_json(*facts) : cells_text(*facts));
      !printed) {
    return printed.error();
  }
  return ExitCode::ok;
}

}  // namespace qfs::cli
