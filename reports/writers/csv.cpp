#include "reports/writers/csv.h"

#include <vector>

#include "harness/core/json_dom.h"
#include "reports/escape.h"

namespace qfs::reports {
namespace {

std::string line(const std::vector<std::string>& fields) {
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) text += (i == 0 ? "" : ",") + fields[i];
  return text + "\r\n";
}

std::vector<std::string> fields_of(const TableCell& cell) {
  std::vector<std::string> fields = {std::string(to_string(cell.status)), csv_text(cell.detail)};
  const bool has_number = cell.status == CellStatus::ok;
  fields.push_back(has_number ? shortest_decimal(cell.value) : "");
  fields.push_back(has_number && cell.spread ? shortest_decimal(cell.spread->low) : "");
  fields.push_back(has_number && cell.spread ? shortest_decimal(cell.spread->high) : "");
  fields.push_back(has_number ? std::to_string(cell.n) : "");
  fields.push_back(has_number && cell.clusters >= 0 ? std::to_string(cell.clusters) : "");
  for (std::string CellSource::*id :
       {&CellSource::cell_id, &CellSource::numerics_id, &CellSource::score_id}) {
    std::string ids = cell.source.*id;
    for (const SeedValue& seed : cell.seeds) ids += (ids.empty() ? "" : " ") + seed.source.*id;
    fields.push_back(std::move(ids));
  }
  fields.push_back(has_number ? std::to_string(cell.empty) : "");
  const bool several = has_number && !cell.seeds.empty();
  fields.push_back(has_number ? std::to_string(several ? cell.seeds.size() : 1) : "");
  fields.push_back(several && !cell.difference ? shortest_decimal(cell.deviation) : "");
  fields.push_back(has_number ? (cell.best ? "true" : "false") : "");
  const auto tested = [&](auto&& text) { return cell.tested ? text(*cell.tested) : ""; };
  fields.push_back(tested([](const auto& t) { return shortest_decimal(t.difference); }));
  fields.push_back(tested([](const auto& t) { return shortest_decimal(t.p); }));
  fields.push_back(tested([](const auto& t) { return shortest_decimal(t.p_holm); }));
  fields.push_back(
      tested([](const auto& t) { return std::string(t.significant ? "true" : "false"); }));
  return fields;
}

}  // namespace

std::string write_csv(const Table& table) {
  std::vector<std::string> head;
  for (const auto* axes : {&table.row_axes, &table.column_axes}) {
    for (const std::string& axis : *axes) head.push_back(csv_text(axis));
  }
  head.insert(head.end(),
              {"oracle", "value",    "status",     "detail",      "number",   "low",        "high",
               "n",      "clusters", "cell_id",    "numerics_id", "score_id", "empty",      "seeds",
               "sd",     "best",     "difference", "p",           "p_holm",   "significant"});
  std::string text = line(head);
  for (size_t row = 0; row < table.rows.size(); ++row) {
    for (size_t column = 0; column < table.columns.size(); ++column) {
      for (size_t value = 0; value < table.values.size(); ++value) {
        const TableCell& cell = table.cell(row, column, value);
        if (cell.status == CellStatus::absent) continue;
        std::vector<std::string> fields;
        for (const std::string& label : table.rows[row].labels) fields.push_back(csv_text(label));
        for (const std::string& label : table.columns[column].labels) {
          fields.push_back(csv_text(label));
        }
        fields.push_back(cell.oracle ? "true" : "false");
        fields.push_back(csv_text(table.values[value].name));
        for (std::string& field : fields_of(cell)) fields.push_back(std::move(field));
        text += line(fields);
      }
    }
  }
  return text;
}

}  // namespace qfs::reports
