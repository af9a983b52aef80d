#include "harness/cli/chosen_places.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/cli/shown_example.h"
#include "harness/core/json_dom.h"
#include "harness/plan/filter.h"

namespace qfs::cli {
namespace {

/// As a plan's filter sees the cell.
plan::CellFacts facts_of(const reports::PlaceFacts& place, const reports::SweepFacts& sweep) {
  plan::CellFacts facts(place.dimensions.begin(), place.dimensions.end());
  facts.emplace("label", place.dimensions.at("method"));
  facts.emplace("method", place.cell.method);
  const auto identity = parse_json(place.cell.identity.text, "identity");
  if (identity && identity->contains("external")) facts.emplace("method", "external");
  facts.emplace("dataset", sweep.datasets.at(place.cell.dataset).manifest.name);
  return facts;
}

}  // namespace

CLI::Option* add_run_option(CLI::App& command, std::string& run) {
  return command
      .add_option("--run,--sweep", run,
                  "Which run of the store: a number of `list runs`, latest, a sweep's name or the "
                  "beginning of its id (default: the latest)")
      ->type_name("RUN");
}

void add_filter_option(CLI::App& command, std::vector<std::string>& filters) {
  command
      .add_option("--filter", filters,
                  "Only cells that match, e.g. 'method=lead|bm25,local_context=256'; repeatable")
      ->type_name("KEY=VALUE|VALUE,…")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
}

std::string joined_filter(const std::vector<std::string>& filters) {
  return fmt::format("{}", fmt::join(filters, ","));
}

Result<std::vector<size_t>> matching_positions(const reports::SweepFacts& facts,
                                               const std::string& filter) {
  const Result<plan::Filter> conditions = plan::parse_filter(filter);
  if (!conditions) return conditions.error();
  std::vector<plan::CellFacts> cells;
  for (const reports::PlaceFacts& place : facts.places) cells.push_back(facts_of(place, facts));
  return plan::matching_cells(*conditions, cells);
}

Result<std::vector<const reports::PlaceFacts*>> matching_places(const reports::SweepFacts& facts,
                                                                const std::string& id_prefix,
                                                                const std::string& filter) {
  const Result<std::vector<size_t>> matching = matching_positions(facts, filter);
  if (!matching) return matching.error();
  std::vector<const reports::PlaceFacts*> found;
  for (size_t i : *matching) {
    const reports::PlaceFacts& place = facts.places[i];
    if (!place.cell.id.hex().starts_with(id_prefix)) continue;
    const bool again = std::ranges::any_of(found, [&](const reports::PlaceFacts* other) {
      return place.another_seed && other->cell.id == place.cell.id;
    });
    if (!again) found.push_back(&place);
  }
  if (found.empty()) {
    return not_found("no cell of sweep '" + facts.sweep.name + "' has an id that begins with '" +
                     id_prefix + "'; 'qfs-bench list cells' shows them");
  }
  return found;
}

Error several_places(const std::vector<const reports::PlaceFacts*>& places) {
  constexpr size_t kShown = 8;
  std::string list;
  for (size_t i = 0; i < std::min(places.size(), kShown); ++i) {
    list += fmt::format("\n  {}  {}", places[i]->cell.id.short_hex(), cell_title(*places[i]));
  }
  return invalid_argument(
      fmt::format("{} cells match; give the beginning of an id or more conditions:{}{}",
                  places.size(), list, places.size() > kShown ? "\n  …" : ""));
}

}  // namespace qfs::cli
