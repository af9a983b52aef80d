#include "reports/writers/json.h"

#include <nlohmann/json.hpp>

#include "harness/core/log.h"

namespace qfs::reports {
namespace {

using nlohmann::json;

json labels_json(const std::vector<std::string>& axes, const std::vector<std::string>& labels) {
  json object = json::object();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!labels[i].empty()) object[axes[i]] = labels[i];
  }
  return object;
}

std::string_view group_name(ValueGroup group) {
  switch (group) {
    case ValueGroup::quality:
      return "quality";
    case ValueGroup::performance:
      return "performance";
    case ValueGroup::coverage:
      return "coverage";
  }
  return "quality";
}

void put(json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void put_source(json& object, const CellSource& source) {
  put(object, "cell_id", source.cell_id);
  put(object, "numerics_id", source.numerics_id);
  put(object, "score_id", source.score_id);
}

json cell_json(const TableCell& cell) {
  json object = {{"status", to_string(cell.status)}};
  if (cell.status == CellStatus::ok) {
    object["value"] = cell.value;
    object["n"] = cell.n;
    if (cell.clusters >= 0) object["clusters"] = cell.clusters;
    if (cell.spread) {
      object["low"] = cell.spread->low;
      object["high"] = cell.spread->high;
      object["spread"] = cell.spread->kind == SpreadKind::interval ? "interval" : "repetitions";
    }
  }
  put(object, "detail", cell.detail);
  put_source(object, cell.source);
  if (!cell.seeds.empty()) {
    if (!cell.difference) object["sd"] = cell.deviation;
    for (const SeedValue& seed : cell.seeds) {
      json of_seed = {{"seed", seed.seed}};
      if (!cell.difference) of_seed["value"] = seed.value;
      put_source(of_seed, seed.source);
      object["seeds"].push_back(std::move(of_seed));
    }
  }
  if (cell.best) object["best"] = true;
  if (cell.tested) {
    object["tested"] = {{"difference", cell.tested->difference},
                        {"p", cell.tested->p},
                        {"p_holm", cell.tested->p_holm},
                        {"clusters", cell.tested->clusters},
                        {"significant", cell.tested->significant}};
  }
  if (cell.conflicts > 0) object["conflicts"] = cell.conflicts;
  if (cell.empty > 0) object["empty"] = cell.empty;
  return object;
}

json row_json(const Table& table, size_t row) {
  json cells = json::array();
  for (size_t column = 0; column < table.columns.size(); ++column) {
    json values = json::object();
    for (size_t value = 0; value < table.values.size(); ++value) {
      const TableCell& cell = table.cell(row, column, value);
      json& object = values[table.values[value].name] = cell_json(cell);
      if (cell.oracle && !table.rows[row].oracle) object["oracle"] = true;
    }
    cells.push_back({{"labels", labels_json(table.column_axes, table.columns[column].labels)},
                     {"values", std::move(values)}});
  }
  return {{"labels", labels_json(table.row_axes, table.rows[row].labels)},
          {"oracle", table.rows[row].oracle},
          {"cells", std::move(cells)}};
}

}  // namespace

std::string write_json(const Table& table) {
  json values = json::array();
  for (const TableValue& value : table.values) {
    values.push_back(
        {{"name", value.name}, {"title", value.title}, {"group", group_name(value.group)}});
  }
  json rows = json::array();
  for (size_t row = 0; row < table.rows.size(); ++row) rows.push_back(row_json(table, row));
  json report = {
      {"schema", "qfs-bench/report/1"},
      {"sweep", {{"name", table.name}, {"description", table.description}, {"id", table.sweep_id}}},
      {"axes", {{"rows", table.row_axes}, {"columns", table.column_axes}}},
      {"values", std::move(values)},
      {"rows", std::move(rows)},
      {"notes", table.notes},
      {"datasets", table.datasets},
      {"metrics", table.signatures},
      {"signature", table.signature}};
  if (table.against) {
    report["against"] = {
        {"method", table.against->method}, {"differences", table.against->differences},
        {"level", table.against->level},   {"test", table.against->test},
        {"tests", table.against->tests},   {"untested", table.against->untested}};
    if (table.against->shared_seeds) report["against"]["shared_seeds"] = true;
  }
  return terminal_safe_json(report.dump(2, ' ', false, json::error_handler_t::replace)) + "\n";
}

}  // namespace qfs::reports
