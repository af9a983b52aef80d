#include "reports/page/page_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "reports/format.h"
#include "reports/grid.h"

namespace qfs::reports {
namespace {

using nlohmann::json;

/// Places by the ids of their results. A cell that was measured or scored names its numerics; one
/// without any names its cell alone.
class PlaceIndex {
 public:
  explicit PlaceIndex(const std::vector<const PlaceFacts*>& places) : places_(places) {}

  std::vector<size_t> of(const CellSource& source) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < places_.size(); ++i) {
      const PlaceFacts& place = *places_[i];
      if (source.cell_id.empty() || place.cell.id.hex() != source.cell_id) continue;
      const auto made = [&](const std::optional<store::ResultRow>& result) {
        return result && result->key.numerics.hex() == source.numerics_id;
      };
      const bool same = source.numerics_id.empty() || made(place.predict) || made(place.measure);
      if (same) found.push_back(i);
    }
    return found;
  }

 private:
  const std::vector<const PlaceFacts*>& places_;
};

/// The sources of a cell: its seeds', or its own.
std::vector<CellSource> sources_of(const TableCell& cell) {
  if (cell.seeds.empty()) return {cell.source};
  std::vector<CellSource> sources;
  for (const SeedValue& seed : cell.seeds) sources.push_back(seed.source);
  return sources;
}

json cell_json(const TableValue& value, const TableCell& cell, const PlaceIndex& index) {
  if (cell.status == CellStatus::absent) return nullptr;
  CellText shown = shown_text(value, cell);
  json object = {{"behind", std::move(shown.behind)}};
  if (cell.status == CellStatus::ok) object["number"] = std::move(shown.number);
  if (cell.best) object["best"] = true;
  if (cell.tested && cell.tested->significant) object["mark"] = kSignificantMark;
  json& places = object["places"] = json::array();
  for (const CellSource& source : sources_of(cell)) {
    for (const size_t place : index.of(source)) {
      if (std::ranges::find(places, json(place)) == places.end()) places.push_back(place);
    }
  }
  return object;
}

json grid_json(const Table& table, const Grid& grid, const PlaceIndex& index) {
  json object = {{"levels", grid.levels}};
  if (grid.value) object["title"] = table.values[*grid.value].title;
  for (const GridColumn& column : grid.columns) object["columns"].push_back(column.heading);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    json cells = json::array();
    for (const GridColumn& at : grid.columns) {
      cells.push_back(
          cell_json(table.values[at.value], table.cell(row, at.column, at.value), index));
    }
    object["rows"].push_back(
        {{"labels", shown_labels(table.row_axes, table.rows[row])}, {"cells", std::move(cells)}});
  }
  return object;
}

}  // namespace

ShownScores shown_scores(const Table& table, const std::vector<const PlaceFacts*>& places) {
  const PlaceIndex index(places);
  ShownScores shown(places.size());
  for (size_t i = 0; i < table.cells.size(); ++i) {
    for (const CellSource& source : sources_of(table.cells[i])) {
      if (source.score_id.empty()) continue;
      for (const size_t place : index.of(source)) {
        shown[place][i % table.values.size()] = ScoreId(source.score_id);
      }
    }
  }
  return shown;
}

json table_json(const Table& table, const std::vector<const PlaceFacts*>& places) {
  const PlaceIndex index(places);
  json grids = json::array();
  for (const Grid& grid : grids_of(table)) grids.push_back(grid_json(table, grid, index));
  return {{"axes", table.row_axes}, {"grids", std::move(grids)}};
}

}  // namespace qfs::reports
