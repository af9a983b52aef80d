#include "reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reports/layout.h"
#include "reports/settings.h"
#include "reports/signature.h"
#include "reports/sweep_facts.h"
#include "reports/value.h"

namespace qfs::reports {
namespace {

/// Columns that the store's scores or the caller's metrics have.
std::vector<std::string> known_columns(const SweepFacts& facts,
                                       const std::vector<MetricChoice>& metrics) {
  std::vector<std::string> columns;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& column : more) {
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
    }
  };
  for (const MetricChoice& metric : metrics) add(metric.columns);
  for (const PlaceFacts& place : facts.places) {
    for (const store::ScoreJobRow& job : place.scores) add(job.columns);
  }
  return columns;
}

ReportSettings merged_settings(const SweepFacts& facts, const ReportRequest& request,
                               const std::vector<std::string>& columns) {
  ReportSettings settings = facts.settings;
  if (request.rows) settings.rows = *request.rows;
  if (request.columns) settings.columns = *request.columns;
  if (request.values) settings.values = *request.values;
  if (request.coverage) settings.coverage = *request.coverage;
  if (settings.values.empty()) {
    const bool measured = std::ranges::any_of(
        facts.places, [](const PlaceFacts& p) { return !p.place.measure_ordinals.empty(); });
    settings.values = default_values(columns, measured);
  }
  return settings;
}

std::vector<ValueSpec> chosen_values(const ReportSettings& settings, bool only_quality) {
  std::vector<std::string> names = settings.values;
  if (settings.coverage) {
    for (const std::string& name : coverage_values()) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  std::vector<ValueSpec> values;
  for (const std::string& name : names) {
    ValueSpec value = value_spec(name);
    if (only_quality && value.shown.group == ValueGroup::performance) continue;
    values.push_back(std::move(value));
  }
  return values;
}

std::vector<AxisEntry> axis_entries(std::vector<std::vector<std::string>> labels) {
  std::vector<AxisEntry> entries;
  for (std::vector<std::string>& entry : labels) entries.push_back({std::move(entry), false});
  return entries;
}

/// Names in the header whose peak `peak_memory` shows; where it is both, the host's are marked.
void name_memory(Table& table, size_t value) {
  std::vector<TableCell*> cells;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    for (size_t column = 0; column < table.columns.size(); ++column) {
      TableCell& cell = table.cell(row, column, value);
      if (cell.status == CellStatus::ok) cells.push_back(&cell);
    }
  }
  const auto of_device = [](const TableCell* cell) { return cell->detail == "device"; };
  const auto devices = std::ranges::count_if(cells, of_device);
  std::string& title = table.values[value].title;
  if (devices == 0) {
    title = value_spec("host_peak").shown.title;
  } else if (static_cast<size_t>(devices) == cells.size()) {
    title = value_spec("device_allocated_peak").shown.title;
  } else {
    title = "peak memory, MiB (device, allocated; of the host process, RSS, where marked)";
  }
  const bool mixed = devices != 0 && static_cast<size_t>(devices) != cells.size();
  for (TableCell* cell : cells) {
    if (!mixed || of_device(cell)) cell->detail.clear();
  }
}

std::vector<std::string> notes_of(const Table& table) {
  std::vector<std::string> notes;
  if (std::ranges::any_of(table.rows, &AxisEntry::oracle)) {
    notes.emplace_back("† oracle: reads references or evidence; an upper bound, not a competitor");
  }
  const auto repeated = [](const TableCell& cell) {
    return cell.status == CellStatus::ok && cell.spread &&
           cell.spread->kind == SpreadKind::repetitions;
  };
  if (std::ranges::any_of(table.cells, repeated)) {
    std::set<int64_t> counts;
    for (const TableCell& cell : table.cells) {
      if (repeated(cell)) counts.insert(cell.n);
    }
    notes.push_back(fmt::format("speed and memory: median of {} repetitions (smallest–largest)",
                                fmt::join(counts, "/")));
  }
  return notes;
}

/// Conflicting outputs by result: two computations of one thing that came out differently.
Result<std::map<store::ResultId, int64_t>> conflicts_by_result(store::Reader& reader) {
  Result<std::vector<store::ConflictRow>> rows = reader.conflicts();
  if (!rows) return rows.error();
  std::map<store::ResultId, int64_t> counts;
  for (const store::ConflictRow& row : *rows) ++counts[row.result];
  return counts;
}

std::string conflict_note(const PlaceFacts& place, int64_t count) {
  return fmt::format(
      "not deterministic: {} of {} outputs of {} (cell {}) came out differently when computed "
      "again",
      count, place.cell.ordinals.size(), place.dimensions.at("method"), place.cell.id.short_hex());
}

Table empty_table(const SweepFacts& facts, const Layout& layout,
                  const std::vector<ValueSpec>& values) {
  Table table;
  table.name = facts.sweep.name;
  table.description = facts.description;
  table.sweep_id = facts.sweep.id.hex();
  table.row_axes = layout.row_axes;
  table.column_axes = layout.column_axes;
  table.rows = axis_entries(layout.rows);
  table.columns = axis_entries(layout.columns);
  for (const ValueSpec& value : values) table.values.push_back(value.shown);
  table.cells.resize(table.rows.size() * table.columns.size() * values.size());
  return table;
}

}  // namespace

Result<Table> build_table(store::Reader& reader, const ReportRequest& request) {
  Result<SweepFacts> facts = load_sweep_facts(reader, request.sweep);
  if (!facts) return facts.error();
  const std::vector<std::string> columns = known_columns(*facts, request.metrics);
  const ReportSettings settings = merged_settings(*facts, request, columns);
  if (Status known = check_values(settings, columns); !known) return known.error();
  Result<Layout> layout = arrange(facts->places, settings);
  if (!layout) return layout.error();
  const std::vector<ValueSpec> values = chosen_values(settings, request.only_quality);
  Result<std::map<store::ResultId, int64_t>> conflicts = conflicts_by_result(reader);
  if (!conflicts) return conflicts.error();

  Table table = empty_table(*facts, *layout, values);
  UsedSources used;
  EvidenceIndex evidence(reader);
  std::vector<std::string> conflict_notes;
  for (size_t i = 0; i < facts->places.size(); ++i) {
    const PlaceFacts& place = facts->places[i];
    const Slot slot = layout->slots[i];
    if (place.cell.oracle) table.rows[slot.row].oracle = true;
    int64_t conflicting = 0;
    if (place.predict) {
      if (auto it = conflicts->find(place.predict->id); it != conflicts->end()) {
        conflicting = it->second;
        conflict_notes.push_back(conflict_note(place, conflicting));
      }
    }
    PlaceEvaluator evaluator(place, {reader, evidence, request.metrics, used});
    for (size_t value = 0; value < values.size(); ++value) {
      Result<TableCell> cell = evaluator.evaluate(values[value]);
      if (!cell) return cell.error();
      cell->conflicts = conflicting;
      table.cell(slot.row, slot.column, value) = std::move(*cell);
    }
  }
  for (size_t value = 0; value < values.size(); ++value) {
    if (values[value].source == ValueSource::peak_memory) name_memory(table, value);
  }
  table.notes = notes_of(table);
  table.notes.insert(table.notes.end(), conflict_notes.begin(), conflict_notes.end());
  table.datasets = dataset_signatures(*facts);
  table.signatures = metric_signatures(used);
  table.signature = signature_line(request.program, *facts, used);
  if (!request.store_name.empty()) {
    table.store = request.store_name + "#" + facts->sweep.id.short_hex();
  }
  return table;
}

}  // namespace qfs::reports
