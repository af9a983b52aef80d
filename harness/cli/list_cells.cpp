#include <nlohmann/json.hpp>
#include <set>

#include "harness/cli/chosen_places.h"
#include "harness/cli/listings.h"
#include "harness/cli/output.h"
#include "harness/cli/store_path.h"
#include "harness/core/utf8.h"
#include "reports/sweep_facts.h"

namespace qfs::cli {
namespace {

using nlohmann::json;
using Places = std::vector<const reports::PlaceFacts*>;

constexpr size_t kWidestValue = 40;  // a prompt would push every column off the screen

/// Shortened at a whole character.
std::string shortened(const std::string& text) {
  if (text.size() <= kWidestValue) return text;
  return text.substr(0, whole_code_points(text, kWidestValue)) + "…";
}

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
std::vector<std::string> shown_dimensions(const Places& places) {
  std::map<std::string, std::set<std::string>> values;
  for (const reports::PlaceFacts* place : places) {
    for (const auto& [name, value] : place->dimensions) values[name].insert(value);
  }
  std::vector<std::string> shown = {"method", "dataset"};
  for (const auto& [name, seen] : values) {
    if (seen.size() > 1 && name != "method" && name != "dataset" && name != "cell") {
      shown.push_back(name);
    }
  }
  return shown;
}

/// `empty`: how many outputs of each cell are empty.
std::string cells_json(const store::SweepRow& sweep, const Places& places,
                       const std::vector<int64_t>& empty) {
  json cells = json::array();
  for (size_t i = 0; i < places.size(); ++i) {
    const reports::PlaceFacts& place = *places[i];
    json dimensions = place.dimensions;
    dimensions.erase("cell");
    json metrics = json::array();
    for (const store::ScoreJobRow& job : place.scores) metrics.push_back(job.signature);
    json& cell = cells.emplace_back(json{{"cell_id", place.cell.id.hex()},
                                         {"dimensions", std::move(dimensions)},
                                         {"oracle", place.cell.oracle},
                                         {"predict", result_json(place.predict)},
                                         {"scores", std::move(metrics)}});
    if (empty[i] > 0) cell["predict"]["empty"] = empty[i];
    if (!place.place.measure_ordinals.empty()) cell["measure"] = result_json(place.measure);
  }
  return json_document(
      "list-cells",
      {{"sweep", sweep.name}, {"sweep_id", sweep.id.hex()}, {"cells", std::move(cells)}});
}

std::string cells_text(const Places& places, const std::vector<int64_t>& empty) {
  const std::vector<std::string> shown = shown_dimensions(places);
  std::vector<std::vector<std::string>> rows = {{"cell"}};
  rows[0].insert(rows[0].end(), shown.begin(), shown.end());
  rows[0].insert(rows[0].end(), {"predictions", "measurement", "scores"});
  for (size_t i = 0; i < places.size(); ++i) {
    const reports::PlaceFacts& place = *places[i];
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(place.cell.id.short_hex());
    for (const std::string& name : shown) {
      auto value = place.dimensions.find(name);
      row.push_back(value == place.dimensions.end() ? "–" : shortened(value->second));
    }
    row.push_back(status_text(place.predict));
    if (empty[i] > 0) row.back() += ", " + std::to_string(empty[i]) + " empty";
    row.push_back(place.place.measure_ordinals.empty() ? "–" : status_text(place.measure));
    row.push_back(std::to_string(place.scores.size()));
  }
  return aligned(rows);
}

}  // namespace

Result<ExitCode> list_cells(const GlobalOptions& global, const std::string& run,
                            const std::string& filter) {
  Result<store::Reader> reader = open_existing_store(global);
  if (!reader) return reader.error();
  Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, run);
  if (!facts) return facts.error();
  const Result<std::vector<size_t>> matching = matching_positions(*facts, filter);
  if (!matching) return matching.error();
  Places places;
  std::vector<int64_t> empty;
  for (size_t position : *matching) {
    const reports::PlaceFacts& place = facts->places[position];
    Result<int64_t> count =
        place.predict ? reader->empty_outputs(place.predict->id) : Result<int64_t>(int64_t{0});
    if (!count) return count.error();
    places.push_back(&place);
    empty.push_back(*count);
  }
  const std::string text =
      global.json ? cells_json(facts->sweep, places, empty) : cells_text(places, empty);
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace qfs::cli
