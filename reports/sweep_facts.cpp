#include "reports/sweep_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "harness/core/json_dom.h"
#include "harness/core/suggest.h"

namespace qfs::reports {
namespace {

using nlohmann::json;

std::vector<std::string> texts_at(const json& object, const char* key) {
  std::vector<std::string> texts;
  auto it = object.find(key);
  if (it == object.end() || !it->is_array()) return texts;
  for (const json& item : *it) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

void read_table(const json& object, TableSettings& table) {
  if (object.contains("rows")) table.rows = texts_at(object, "rows");
  table.columns = texts_at(object, "columns");
  table.values = texts_at(object, "values");
  table.coverage = object.value("coverage", false);
}

/// The "report" member of a resolved sweep file.
ReportSettings settings_of(const json& config) {
  ReportSettings settings;
  auto it = config.find("report");
  if (it == config.end() || !it->is_object()) return settings;
  read_table(*it, settings);
  for (const json& object : it->value("page", json::array())) {
    if (!object.is_object()) continue;
    PageSection section;
    read_table(object, section);
    section.title = object.value("title", "");
    section.text = object.value("text", "");
    section.filter = object.value("filter", "");
    section.minus = object.contains("minus");
    section.against = object.value(section.minus ? "minus" : "against", "");
    settings.page.push_back(std::move(section));
  }
  return settings;
}

std::string as_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// "mini-meetings"; with split and view where the sweep has two data sets of that name, and with
/// the id where even those are equal.
std::string dataset_label(const DatasetId& id, const std::map<DatasetId, store::DatasetRow>& all) {
  const DatasetManifest& own = all.at(id).manifest;
  const auto place = [](const DatasetManifest& m) {
    return m.name + "/" + m.split + "/" + m.view + (m.text_form.empty() ? "" : "/" + m.text_form);
  };
  bool name_is_unique = true;
  bool place_is_unique = true;
  for (const auto& [other, row] : all) {
    if (other == id) continue;
    if (row.manifest.name == own.name) name_is_unique = false;
    if (place(row.manifest) == place(own)) place_is_unique = false;
  }
  if (name_is_unique) return own.name;
  return place_is_unique ? place(own) : place(own) + "#" + id.short_hex();
}

Status add_dimensions(PlaceFacts& facts, const std::map<DatasetId, store::DatasetRow>& datasets) {
  Result<json> params =
      parse_json(facts.place.params.text, "parameters of cell " + facts.cell.id.hex());
  if (!params) return params.error();
  for (const auto& [name, value] : params->items()) facts.dimensions[name] = as_text(value);
  facts.dimensions["method"] = facts.place.label.empty() ? facts.cell.method : facts.place.label;
  facts.dimensions["dataset"] = dataset_label(facts.cell.dataset, datasets);
  facts.dataset = datasets.at(facts.cell.dataset).manifest.name;
  const auto shown_seed = facts.dimensions.extract(store::kShownSeed);
  facts.dimensions["seed"] =
      shown_seed.empty() ? std::to_string(facts.cell.seed) : shown_seed.mapped();
  facts.dimensions["cell"] = facts.cell.id.short_hex();
  return {};
}

Status add_results(store::Reader& reader, SweepFacts& facts) {
  Result<std::vector<store::SweepResult>> results = reader.results_of_sweep(facts.sweep.id);
  if (!results) return results.error();
  for (store::SweepResult& used : *results) {
    const auto position = static_cast<size_t>(used.position);
    if (used.position < 0 || position >= facts.places.size()) {
      return store_error("the sweep uses a result at position " + std::to_string(used.position) +
                         ", but has " + std::to_string(facts.places.size()) + " cells");
    }
    PlaceFacts& place = facts.places[position];
    if (used.result.key.kind == store::ResultKind::measure) {
      place.measure = std::move(used.result);
    } else if (used.result.key.kind == store::ResultKind::predict) {
      place.predict = std::move(used.result);
    }
  }
  for (PlaceFacts& place : facts.places) {
    if (!place.predict) continue;
    Result<std::vector<store::ScoreJobRow>> scores = reader.scores(place.predict->id);
    if (!scores) return scores.error();
    place.scores = std::move(*scores);
  }
  return {};
}

}  // namespace

Result<store::SweepRow> find_sweep(store::Reader& reader, std::string_view selector) {
  if (selector.empty()) return reader.latest_sweep();
  Result<std::vector<store::SweepInfo>> sweeps = reader.sweeps();
  if (!sweeps) return sweeps.error();
  std::vector<std::string> names;
  std::vector<store::SweepId> matches;
  constexpr size_t kShortestId = 4;  // "0" is a number that no run has
  for (const store::SweepInfo& info : *sweeps) {
    if (info.name == selector) return reader.sweep(info.id);
    if (std::ranges::find(names, info.name) == names.end()) names.push_back(info.name);
    const bool may_be_id = selector.size() >= kShortestId;
    if (may_be_id && info.id.hex().starts_with(selector)) matches.push_back(info.id);
  }
  if (selector == "latest") return reader.latest_sweep();
  for (const store::SweepInfo& info : *sweeps) {
    if (std::to_string(info.number) == selector) return reader.sweep(info.id);
  }
  if (matches.size() == 1) return reader.sweep(matches.front());
  if (matches.size() > 1) {
    return invalid_argument(fmt::format("'{}' is the beginning of {} sweeps' ids; give more digits",
                                        selector, matches.size()));
  }
  return not_found(fmt::format(
      "the store has no run or sweep '{}'{}; 'qfs-bench list runs' shows its {}", selector,
      suggestion(std::filesystem::path(selector).stem().string(), names), sweeps->size()));
}

Result<SweepFacts> load_sweep_facts(store::Reader& reader, std::string_view selector) {
  Result<store::SweepRow> sweep = find_sweep(reader, selector);
  if (!sweep) return sweep.error();
  const Result<std::vector<store::SweepInfo>> runs = reader.sweeps();
  if (!runs) return runs.error();
  SweepFacts facts;
  facts.runs = runs->size();
  facts.sweep = std::move(*sweep);
  Result<json> config =
      parse_json(facts.sweep.config.text, "configuration of sweep " + facts.sweep.name);
  if (!config) return config.error();
  facts.settings = settings_of(*config);
  if (auto it = config->find("description"); it != config->end()) facts.description = as_text(*it);

  for (const store::SweepCell& place : facts.sweep.cells) {
    Result<store::CellRow> cell = reader.cell(place.cell);
    if (!cell) return cell.error();
    if (!facts.datasets.contains(cell->dataset)) {
      Result<store::DatasetRow> dataset = reader.dataset(cell->dataset);
      if (!dataset) return dataset.error();
      facts.datasets.emplace(cell->dataset, std::move(*dataset));
    }
    PlaceFacts added;
    added.place = place;
    added.measured_examples = static_cast<int64_t>(place.measure_ordinals.size());
    added.cell = std::move(*cell);
    facts.places.push_back(std::move(added));
  }
  for (PlaceFacts& place : facts.places) {
    if (Status added = add_dimensions(place, facts.datasets); !added) return added.error();
  }
  if (Status added = add_results(reader, facts); !added) return added.error();
  // Cells that differ in the numerics of their trainings alone share an id, and no result.
  std::set<std::tuple<CellId, compare::Dimensions, std::optional<store::ResultId>>> shown;
  for (PlaceFacts& place : facts.places) {
    compare::Dimensions seedless = place.dimensions;
    seedless.erase("seed");
    std::optional<store::ResultId> result;
    if (place.predict) result = place.predict->id;
    place.another_seed = !shown.emplace(place.cell.id, std::move(seedless), result).second;
  }
  return facts;
}

}  // namespace qfs::reports
