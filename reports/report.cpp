#include "reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/compare/comparison.h"
#include "harness/core/counted.h"
#include "reports/layout.h"
#include "reports/marks.h"
#include "reports/notes.h"
#include "reports/seeds.h"
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

TableSettings merged_settings(const SweepFacts& facts, const ReportRequest& request,
                              const std::vector<std::string>& columns) {
  TableSettings settings = facts.settings;
  // Of the sweep file's own axes those that a filter has left no cell of are not shown.
  const auto in_no_cell = [&](const std::string& axis) {
    return axis != "backbone" && axis != "tokenizer" && axis != kValuesAxis &&
           std::ranges::none_of(facts.places, [&](const PlaceFacts& place) {
             return place.dimensions.contains(axis);
           });
  };
  std::erase_if(settings.rows, in_no_cell);
  std::erase_if(settings.columns, in_no_cell);
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

std::vector<ValueSpec> chosen_values(const TableSettings& settings, bool only_quality) {
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

/// The metric of a column knows which of its values are better.
void ask_metric(const std::vector<MetricChoice>& metrics, ValueSpec& value) {
  if (value.source != ValueSource::score) return;
  for (const MetricChoice& choice : metrics) {
    if (!value.metric.empty() && choice.name != value.metric) continue;
    if (choice.metric && std::ranges::count(choice.columns, value.key) > 0) {
      value.shown.better = choice.metric->better(value.key);
      return;
    }
  }
}

std::vector<AxisEntry> axis_entries(std::vector<std::vector<std::string>> labels) {
  std::vector<AxisEntry> entries;
  for (std::vector<std::string>& entry : labels) entries.push_back({std::move(entry), false});
  return entries;
}

/// Names in the header whose peak `peak_memory` shows; where it is both, the host's are marked, and
/// a note says so.
std::vector<std::string> name_memory(Table& table, size_t value) {
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
    title = value_spec("peak_memory").shown.title;
  }
  const bool mixed = devices != 0 && static_cast<size_t>(devices) != cells.size();
  for (TableCell* cell : cells) {
    if (!mixed || of_device(cell)) cell->detail.clear();
  }
  if (!mixed) return {};
  return {"peak memory: of the device (allocated), of the host process (RSS) where marked"};
}

/// Metrics that the store has scores of and the table does not show; only where nobody chose
/// values.
std::vector<std::string> hidden_notes(const SweepFacts& facts, const ReportRequest& request,
                                      const std::vector<ValueSpec>& values) {
  if (request.values || !facts.settings.values.empty()) return {};
  std::vector<std::string> hidden;
  std::set<std::string> taken;  // columns, by the first metric that has them
  for (const MetricChoice& metric : request.metrics) {
    bool shown = false;
    for (const std::string& column : metric.columns) {
      const bool first = taken.insert(column).second;
      shown = shown || (first && std::ranges::count(values, column, &ValueSpec::key) > 0);
    }
    const auto is_scored = [&](const PlaceFacts& place) {
      return std::ranges::count(place.scores, metric.signature, &store::ScoreJobRow::signature) > 0;
    };
    if (!shown && !metric.columns.empty() && std::ranges::any_of(facts.places, is_scored)) {
      hidden.push_back(metric.name + "/" + metric.columns.front());
    }
  }
  if (hidden.empty()) return {};
  return {fmt::format("also scored, shown with --values: {}", fmt::join(hidden, ", "))};
}

/// Of the methods of intervals those of which the table has one.
void keep_shown_intervals(const Table& table, std::set<std::string>& methods) {
  const auto is_scored = [](const TableCell& c) { return c.clusters >= 0 && !c.difference; };
  const auto is_difference = [](const TableCell& c) { return c.difference && c.spread; };
  if (std::ranges::none_of(table.cells, is_scored)) methods.clear();
  if (std::ranges::any_of(table.cells, is_difference)) {
    methods.insert(compare::interval_signature());
  }
}

/// Leaves only the places asked for; the note about it.
std::vector<std::string> select_places(SweepFacts& facts, const ReportRequest& request) {
  if (!request.positions) return {};
  const size_t all = facts.places.size();
  std::vector<PlaceFacts> places;
  for (size_t position : *request.positions) places.push_back(std::move(facts.places[position]));
  facts.places = std::move(places);
  return {
      fmt::format("{} of {}: {}", facts.places.size(), counted(all, "cell"), request.selection)};
}

Table empty_table(const SweepFacts& facts, const Layout& layout,
                  const std::vector<ValueSpec>& values) {
  Table table;
  table.name = facts.sweep.name;
  table.description = facts.description;
  table.sweep_id = facts.sweep.id.hex();
  table.row_axes = layout.row_axes;
  table.column_axes = layout.column_axes;
  table.values_level = layout.values_level;
  table.rows = axis_entries(layout.rows);
  table.columns = axis_entries(layout.columns);
  for (const ValueSpec& value : values) table.values.push_back(value.shown);
  table.cells.resize(table.rows.size() * table.columns.size() * values.size());
  return table;
}

/// Those of which a cell is made: a result that stands for several seeds counts once in a cell.
std::vector<size_t> shown_places(const SweepFacts& facts, const Layout& layout) {
  std::vector<size_t> shown;
  for (size_t i = 0; i < facts.places.size(); ++i) {
    const bool again = facts.places[i].another_seed && std::ranges::any_of(shown, [&](size_t j) {
                         return facts.places[j].cell.id == facts.places[i].cell.id &&
                                layout.slots[j] == layout.slots[i];
                       });
    if (!again) shown.push_back(i);
  }
  return shown;
}

/// Facts that no output of the table says, which may be misspelt.
std::vector<std::string> unsaid_notes(const Table& table, const std::vector<ValueSpec>& values) {
  std::vector<std::string> notes;
  for (size_t value = 0; value < values.size(); ++value) {
    bool said = values[value].source != ValueSource::fact;
    for (size_t i = value; i < table.cells.size() && !said; i += values.size()) {
      said = table.cells[i].status == CellStatus::ok;
    }
    if (!said) notes.push_back(fmt::format("no output here says '{}'", values[value].key));
  }
  return notes;
}

}  // namespace

Result<Table> build_table(store::Reader& reader, const ReportRequest& request) {
  Result<SweepFacts> facts = load_sweep_facts(reader, request.sweep);
  if (!facts) return facts.error();
  return build_table(reader, *std::move(facts), request);
}

Result<Table> build_table(store::Reader& reader, SweepFacts facts, const ReportRequest& request) {
  std::vector<std::string> notes = select_places(facts, request);
  const std::vector<std::string> columns = known_columns(facts, request.metrics);
  const TableSettings settings = merged_settings(facts, request, columns);
  if (Status known = check_values(settings, columns); !known) return known.error();
  Result<Layout> layout = arrange(facts.places, settings);
  if (!layout) return layout.error();
  std::vector<ValueSpec> values = chosen_values(settings, request.only_quality);
  for (ValueSpec& value : values) ask_metric(request.metrics, value);
  Result<std::map<store::ResultId, int64_t>> conflicts = conflicts_by_result(reader);
  if (!conflicts) return conflicts.error();

  Table table = empty_table(facts, *layout, values);
  UsedSources used;
  EvidenceIndex evidence(reader);
  std::vector<std::string> place_notes;
  std::set<store::ResultId> noted;
  std::vector<std::vector<SeedCell>> seeds(table.cells.size());
  for (const size_t i : shown_places(facts, *layout)) {
    const PlaceFacts& place = facts.places[i];
    const Slot slot = layout->slots[i];
    const auto conflict = place.predict ? conflicts->find(place.predict->id) : conflicts->end();
    const int64_t conflicting = conflict == conflicts->end() ? 0 : conflict->second;
    int64_t empty = 0;
    PlaceEvaluator evaluator(place, {reader, evidence, request.metrics, used});
    for (size_t value = 0; value < values.size(); ++value) {
      Result<TableCell> cell = evaluator.evaluate(values[value]);
      if (!cell) return cell.error();
      cell->conflicts = conflicting;
      cell->oracle = place.cell.oracle;
      empty = std::max(empty, cell->empty);
      seeds[table.index(slot.row, slot.column, value)].push_back(
          {place.dimensions.at("seed"), *std::move(cell)});
    }
    if (!place.predict) {
      Result<std::string> note = failed_training_note(reader, place);
      if (!note) return note.error();
      if (!note->empty()) place_notes.push_back(*std::move(note));
    }
    if (!place.predict || !noted.insert(place.predict->id).second) continue;
    for (const auto& note_of : {warning_note, batch_note}) {
      Result<std::string> note = note_of(reader, place);
      if (!note) return note.error();
      if (!note->empty()) place_notes.push_back(*std::move(note));
    }
    if (conflicting > 0) place_notes.push_back(conflict_note(place, conflicting));
    Result<int64_t> outputs = reader.empty_outputs(place.predict->id);
    if (!outputs) return outputs.error();
    std::string note = empty_note(place, *outputs, empty);
    if (!note.empty()) place_notes.push_back(std::move(note));
  }
  for (size_t i = 0; i < seeds.size(); ++i) {
    if (!seeds[i].empty()) table.cells[i] = over_seeds(seeds[i]);
  }
  mark_oracles(table);
  if (!request.differences) mark_best(table);
  if (!request.against.empty()) {
    Status tested = test_against(reader, facts, *layout, values, request.metrics, request.against,
                                 request.differences ? "--minus" : "--against", table);
    if (!tested) return tested.error();
    if (request.differences) show_differences(table);
  }
  keep_shown_intervals(table, used.interval_methods);
  for (size_t value = 0; value < values.size(); ++value) {
    if (values[value].source != ValueSource::peak_memory) continue;
    std::vector<std::string> named = name_memory(table, value);
    notes.insert(notes.end(), named.begin(), named.end());
  }
  if (!noted.empty()) {
    const std::vector<std::string> unsaid = unsaid_notes(table, values);
    notes.insert(notes.end(), unsaid.begin(), unsaid.end());
  }
  for (const auto& more :
       {table_notes(table), hidden_notes(facts, request, values), absence_notes(facts, *layout),
        profile_notes(facts, *layout), seed_notes(facts, *layout), place_notes}) {
    notes.insert(notes.end(), more.begin(), more.end());
  }
  table.mark_notes = mark_notes(table);
  table.notes = std::move(notes);
  table.datasets = dataset_signatures(facts);
  table.signatures = metric_signatures(used);
  table.interval_methods.assign(used.interval_methods.begin(), used.interval_methods.end());
  table.signature = signature_line(request.program, facts, used);
  if (!request.store_name.empty()) {
    table.store = request.store_name + "#" + facts.sweep.id.short_hex();
  }
  return table;
}

}  // namespace qfs::reports
