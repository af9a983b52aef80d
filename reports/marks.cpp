#include "reports/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "harness/compare/cell_source.h"
#include "harness/compare/comparison.h"
#include "harness/compare/decision.h"
#include "harness/compare/paired.h"
#include "harness/core/counted.h"
#include "harness/core/suggest.h"
#include "reports/format.h"

namespace qfs::reports {
namespace {

void mark_among(const TableValue& value, const std::vector<TableCell*>& cells) {
  const bool higher = value.better == Better::higher;
  const TableCell* best = cells.front();
  for (const TableCell* cell : cells) {
    if (higher ? cell->value > best->value : cell->value < best->value) best = cell;
  }
  const std::string printed = number_text(value, best->value);
  const auto prints_so = [&](const TableCell* cell) {
    return number_text(value, cell->value) == printed;
  };
  if (std::ranges::all_of(cells, prints_so)) return;
  for (TableCell* cell : cells) cell->best = prints_so(cell);
}

/// The place that stands for each row and column; none where the sweep has no cell.
using Slots = std::vector<const PlaceFacts*>;

const std::string& dimension(const PlaceFacts& place, const std::string& name) {
  static const std::string none;
  const auto found = place.dimensions.find(name);
  return found == place.dimensions.end() ? none : found->second;
}

bool same_examples(const PlaceFacts& a, const PlaceFacts& b) {
  return a.cell.dataset == b.cell.dataset && a.cell.ordinals == b.cell.ordinals;
}

/// The slot of the baseline that a place is compared with: the only one on its examples, or the
/// only one that agrees with it in what tells those apart.
std::optional<size_t> partner(const PlaceFacts& place, const Slots& slots,
                              const std::vector<size_t>& baseline) {
  std::vector<size_t> left;
  compare::Cells cells;
  for (const size_t slot : baseline) {
    if (!same_examples(place, *slots[slot])) continue;
    left.push_back(slot);
    cells.push_back(slots[slot]);
  }
  const auto agree_in = [&](const std::string& name) {
    std::erase_if(
        left, [&](size_t slot) { return dimension(*slots[slot], name) != dimension(place, name); });
  };
  const auto telling = compare::telling_dimensions(cells);
  for (const std::string& name : telling) {
    if (name != "cell" && name != "seed" && place.dimensions.contains(name)) agree_in(name);
  }
  // A slot may hold several seeds; where it holds one, it is compared with its own.
  if (left.size() > 1 && telling.contains("seed")) agree_in("seed");
  if (left.size() != 1) return std::nullopt;
  return left.front();
}

using Seeds = std::set<std::string>;

/// The seeds of the places in each slot; none of those to which the seed does not matter: it is
/// shown for several, or no cell of the method has drawn or rests on a training.
std::vector<Seeds> seeds_of(const SweepFacts& facts, const std::vector<size_t>& slots,
                            size_t count) {
  std::set<CellId> seedless;
  std::set<std::string> seeded;
  for (const PlaceFacts& place : facts.places) {
    const store::CellRow& cell = place.cell;
    if (place.another_seed) seedless.insert(cell.id);
    const auto is_trained = [](const store::Dependency& file) {
      return !file.training_cell.empty();
    };
    const bool trained = std::ranges::any_of(cell.dependencies, is_trained);
    if (cell.seed != 0 || trained) seeded.insert(cell.method);
  }
  std::vector<Seeds> seeds(count);
  for (size_t i = 0; i < slots.size(); ++i) {
    const PlaceFacts& place = facts.places[i];
    if (seedless.contains(place.cell.id) || !seeded.contains(place.cell.method)) continue;
    seeds[slots[i]].insert(place.dimensions.at("seed"));
  }
  return seeds;
}

/// Those that both have, where one lacks some of the other's; empty: all are compared. Nothing
/// where both have seeds and none in common.
std::optional<Seeds> shared_by(const Seeds& one, const Seeds& other) {
  Seeds shared;
  if (one == other || one.empty() || other.empty()) return shared;
  std::ranges::set_intersection(one, other, std::inserter(shared, shared.end()));
  return shared.empty() ? std::nullopt : std::optional(std::move(shared));
}

/// The scores that a cell shows, one a seed; of `shared` ones alone where there are any.
Result<std::vector<store::ScoreJobRow>> jobs_of(store::Reader& reader, const TableCell& cell,
                                                const Seeds& shared) {
  std::vector<std::string> ids = {cell.source.score_id};
  if (!cell.seeds.empty()) ids.clear();
  for (const SeedValue& seed : cell.seeds) {
    if (shared.empty() || shared.contains(seed.seed)) ids.push_back(seed.source.score_id);
  }
  std::vector<store::ScoreJobRow> jobs;
  for (const std::string& id : ids) {
    Result<std::optional<store::ScoreJobRow>> job = reader.score(ScoreId(id));
    if (!job) return job.error();
    if (!*job) return not_found("the store has no score " + id);
    jobs.push_back(**std::move(job));
  }
  return jobs;
}

class Tester {
 public:
  Tester(store::Reader& reader, std::span<const ValueSpec> values,
         std::span<const MetricChoice> metrics, Table& table)
      : reader_(reader), source_(reader), values_(values), metrics_(metrics), table_(table) {}

  /// The scores of one slot against those of another, by the jobs that they come from; both are on
  /// the examples of `place`. `shared`: the seeds that both have, where one lacks some.
  Status compare_slots(size_t slot, size_t baseline, const PlaceFacts& place, const Seeds& shared) {
    if (!shared.empty()) table_.against->shared_seeds = true;
    std::map<std::string, std::vector<size_t>> by_score;
    for (size_t value = 0; value < values_.size(); ++value) {
      if (values_[value].source != ValueSource::score) continue;
      const TableCell& cell = at(slot, value);
      const TableCell& base = at(baseline, value);
      if (cell.status != CellStatus::ok) continue;
      if (base.status != CellStatus::ok || cell.comparable.empty() ||
          cell.comparable != base.comparable) {
        leave_out(slot, value);
        continue;
      }
      by_score[cell.comparable].push_back(value);
    }
    for (const auto& [score, values] : by_score) {
      if (Status done = compare_values(slot, baseline, place, values, shared); !done) return done;
    }
    return {};
  }

  void skip_slot(size_t slot) {
    for (size_t value = 0; value < values_.size(); ++value) {
      const bool score = values_[value].source == ValueSource::score;
      if (score && at(slot, value).status == CellStatus::ok) leave_out(slot, value);
    }
  }

  void conclude() {
    compare::conclude(outcome_);
    for (size_t i = 0; i < outcome_.comparisons.size(); ++i) {
      for (const compare::ComparedColumn& column : outcome_.comparisons[i].columns) {
        ++table_.against->tests;
        for (const size_t value : tested_[i].values) {
          if (values_[value].key != column.name) continue;
          const metrics::Interval& interval = column.difference.interval;
          std::optional<Spread> spread;
          if (interval.available()) spread = Spread{interval.low, interval.high};
          at(tested_[i].slot, value).tested = TestedDifference{column.difference.difference,
                                                               column.p,
                                                               column.p_holm,
                                                               outcome_.comparisons[i].clusters,
                                                               column.p_holm < compare::kLevel,
                                                               spread};
        }
      }
      least_p_ = std::max(least_p_, outcome_.comparisons[i].least_p);
    }
    table_.against->least_p = std::min(1.0, least_p_ * static_cast<double>(table_.against->tests));
  }

 private:
  struct Tested {
    size_t slot = 0;
    std::vector<size_t> values;
  };

  void leave_out(size_t slot, size_t value) {
    at(slot, value).untested = true;
    ++table_.against->untested;
  }

  TableCell& at(size_t slot, size_t value) {
    return table_.cell(slot / table_.columns.size(), slot % table_.columns.size(), value);
  }

  Status compare_values(size_t slot, size_t baseline, const PlaceFacts& place,
                        const std::vector<size_t>& values, const Seeds& shared) {
    const auto jobs = jobs_of(reader_, at(slot, values.front()), shared);
    if (!jobs) return jobs.error();
    const auto base = jobs_of(reader_, at(baseline, values.front()), shared);
    if (!base) return base.error();
    auto first = results(place, *base);
    if (!first) return first.error();
    auto second = results(place, *jobs);
    if (!second) return second.error();
    auto paired = compare::paired_statistics(*std::move(first), *std::move(second));
    if (!paired) return paired.error();
    paired->better.assign(paired->columns.size(), Better::unknown);
    compare::Request request;
    for (const size_t value : values) request.columns.push_back(values_[value].key);
    const bool one_seed = jobs->size() == 1 && base->size() == 1;
    auto compared = compare::compare_metric(
        *paired, request, one_seed ? metric_of(base->front().signature) : nullptr);
    if (!compared) return compared.error();
    for (const size_t value : values) {
      if (std::ranges::count(compared->left_out, values_[value].key) > 0) leave_out(slot, value);
    }
    outcome_.comparisons.push_back(*std::move(compared));
    tested_.push_back({slot, values});
    return {};
  }

  /// They refer to `jobs`.
  Result<std::vector<compare::ScoredResult>> results(const PlaceFacts& place,
                                                     const std::vector<store::ScoreJobRow>& jobs) {
    std::vector<compare::ScoredResult> results;
    for (const store::ScoreJobRow& job : jobs) {
      auto rows = source_.rows(place, job);
      if (!rows) return rows.error();
      results.push_back({job, *std::move(rows)});
    }
    return results;
  }

  const Metric* metric_of(const std::string& signature) const {
    const auto choice = std::ranges::find(metrics_, signature, &MetricChoice::signature);
    return choice == metrics_.end() ? nullptr : choice->metric.get();
  }

  store::Reader& reader_;
  compare::StoreCells source_;
  std::span<const ValueSpec> values_;
  std::span<const MetricChoice> metrics_;
  Table& table_;
  compare::Outcome outcome_;
  std::vector<Tested> tested_;  ///< of the outcome's comparisons
  double least_p_ = 0;
};

/// What is no tested score has no difference either: speed and memory are not compared.
void to_difference(TableCell& cell) {
  if (!cell.tested) {
    if (cell.status != CellStatus::ok) return;
    cell.status = CellStatus::not_applicable;
    cell.detail.clear();
    return;
  }
  TestedDifference& tested = *cell.tested;
  cell.difference = true;
  cell.value = tested.difference = 0 - tested.difference;  // never -0
  if (tested.interval) {
    std::tie(tested.interval->low, tested.interval->high) =
        std::pair(0 - tested.interval->high, 0 - tested.interval->low);
  }
  cell.spread = tested.interval;
  cell.clusters = tested.clusters;
  cell.empty = 0;
  cell.detail.clear();
}

/// The label of the method, once.
void name_difference(const std::vector<std::string>& axes, AxisEntry& entry,
                     std::set<AxisEntry*>& named) {
  const auto method = std::ranges::find(axes, "method");
  if (method == axes.end() || !named.insert(&entry).second) return;
  entry.labels[static_cast<size_t>(method - axes.begin())].insert(0, "minus ");
}

}  // namespace

void mark_best(Table& table) {
  for (size_t value = 0; value < table.values.size(); ++value) {
    const Better better = table.values[value].better;
    if (!has_direction(better)) continue;
    for (size_t column = 0; column < table.columns.size(); ++column) {
      std::map<std::string, std::vector<TableCell*>> groups;
      for (size_t row = 0; row < table.rows.size(); ++row) {
        TableCell& cell = table.cell(row, column, value);
        const bool counts = cell.status == CellStatus::ok && !cell.comparable.empty();
        if (counts && !cell.oracle) groups[cell.comparable].push_back(&cell);
      }
      for (const auto& [comparable, cells] : groups) mark_among(table.values[value], cells);
    }
  }
}

void mark_oracles(Table& table) {
  std::set<size_t> rows;  // with an oracle
  std::set<size_t> columns;
  std::set<size_t> other_rows;  // with something else
  std::set<size_t> other_columns;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    for (size_t column = 0; column < table.columns.size(); ++column) {
      const TableCell& cell = table.cell(row, column, 0);
      if (cell.status == CellStatus::absent) continue;
      (cell.oracle ? rows : other_rows).insert(row);
      (cell.oracle ? columns : other_columns).insert(column);
    }
  }
  for (const size_t row : rows) table.rows[row].oracle = !other_rows.contains(row);
  if (other_rows.empty()) return;  // all are, and the rows say it
  for (const size_t column : columns)
    table.columns[column].oracle = !other_columns.contains(column);
}

Status test_against(store::Reader& reader, const SweepFacts& facts, const Layout& layout,
                    std::span<const ValueSpec> values, std::span<const MetricChoice> metrics,
                    const std::string& method, std::string_view option, Table& table) {
  Slots slots(table.rows.size() * table.columns.size(), nullptr);
  std::set<size_t> of_method;
  std::set<std::string> labels;
  std::vector<size_t> slot_of;
  for (size_t i = 0; i < facts.places.size(); ++i) {
    const size_t slot = layout.slots[i].row * table.columns.size() + layout.slots[i].column;
    slot_of.push_back(slot);
    if (slots[slot] == nullptr) slots[slot] = &facts.places[i];
    labels.insert(facts.places[i].dimensions.at("method"));
    if (facts.places[i].dimensions.at("method") == method) of_method.insert(slot);
  }
  if (of_method.empty()) {
    return not_found(fmt::format("{}: no row of the table is of the method '{}'{}", option, method,
                                 suggestion(method, std::vector(labels.begin(), labels.end()))));
  }
  table.against = Baseline{method, compare::kLevel, compare::test_signature()};
  Tester tester(reader, values, metrics, table);
  const std::vector<size_t> baseline(of_method.begin(), of_method.end());
  const std::vector<Seeds> seeds = seeds_of(facts, slot_of, slots.size());
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot] == nullptr || of_method.contains(slot)) continue;
    const std::optional<size_t> base = partner(*slots[slot], slots, baseline);
    const auto shared = base ? shared_by(seeds[slot], seeds[*base]) : std::nullopt;
    if (!shared) {
      tester.skip_slot(slot);
    } else if (Status done = tester.compare_slots(slot, *base, *slots[slot], *shared); !done) {
      return done;
    }
  }
  tester.conclude();
  if (table.against->tests + table.against->untested == 0) {
    return not_found(fmt::format("{}: the table has no score of a row other than '{}' to compare",
                                 option, method));
  }
  return {};
}

void show_differences(Table& table) {
  table.against->differences = true;
  std::set<AxisEntry*> named;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    for (size_t column = 0; column < table.columns.size(); ++column) {
      const std::span<TableCell> cells(&table.cell(row, column, 0), table.values.size());
      const auto is_compared = [](const TableCell& cell) { return cell.tested || cell.untested; };
      if (std::ranges::none_of(cells, is_compared)) continue;
      for (TableCell& cell : cells) to_difference(cell);
      name_difference(table.row_axes, table.rows[row], named);
      name_difference(table.column_axes, table.columns[column], named);
    }
  }
}

std::vector<std::string> mark_notes(const Table& table) {
  std::vector<std::string> notes;
  if (std::ranges::any_of(table.cells, &TableCell::best)) {
    notes.emplace_back(
        "bold: the best of its column, and what prints the same digits; oracles do not count");
  }
  if (!table.against) return notes;
  const Baseline& against = *table.against;
  const bool any = std::ranges::any_of(
      table.cells, [](const TableCell& cell) { return cell.tested && cell.tested->significant; });
  if (against.differences) {
    notes.push_back(fmt::format(
        "'minus': {} minus that method on the same examples, with the interval by document (not "
        "adjusted) and p (adjusted)",
        against.method));
  }
  if (against.tests > 0) {
    notes.push_back(fmt::format(
        "{} differs from {} at p < {} (two-sided paired randomisation test by document, adjusted "
        "after Holm over {})",
        any ? kSignificantMark : "no score", against.method, against.level,
        counted(static_cast<size_t>(against.tests), "test")));
  }
  if (against.shared_seeds) {
    notes.push_back(fmt::format(
        "rows that lack seeds of {}, or have others, are compared on those that both have",
        against.method));
  }
  if (against.tests > 0 && against.least_p >= against.level) {
    notes.push_back(fmt::format(
        "too few documents: after {}, the smallest p that any data on them could have is {:.2g}",
        counted(static_cast<size_t>(against.tests), "test"), against.least_p));
  }
  if (against.untested > 0) {
    notes.push_back(
        fmt::format("not tested against {}: {} (no score of it on the same examples, no seed in "
                    "common, or a corpus value of several seeds)",
                    against.method, counted(static_cast<size_t>(against.untested), "number")));
  }
  return notes;
}

}  // namespace qfs::reports
