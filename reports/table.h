// Table: what a report shows, independent of how it is written. Rows x columns x values; a cell
// holds a number, how sure it is, or the reason why there is none.
//
// Made by reports/report.h from a store, consumed by reports/writers. Plain data; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"

namespace qfs::reports {

/// Why a cell shows what it shows.
enum class CellStatus {
  ok,
  oom,
  timeout,
  failed,
  incomplete,      ///< predictions or repetitions are missing; the same command continues
  not_reported,    ///< complete, but this value was not asked for (not scored, not measured)
  not_applicable,  ///< the method has no such value (decoding speed of one that generates nothing)
  absent,          ///< the sweep has no cell at this place
};

/// The stable name of a status, as JSON and CSV show it.
std::string_view to_string(CellStatus status);

/// What the two ends of a spread mean.
enum class SpreadKind {
  interval,     ///< a confidence interval
  repetitions,  ///< smallest and largest of several repetitions
};

struct Spread {
  double low = 0;
  double high = 0;
  SpreadKind kind = SpreadKind::interval;
};

/// Which result a cell was computed from, so that every number can be traced.
struct CellSource {
  std::string cell_id;  ///< full digests; empty where there is none
  std::string numerics_id;
  std::string score_id;
};

/// One of the seeds that a cell is the mean of.
struct SeedValue {
  std::string seed;
  double value = 0;
  CellSource source;
};

/// What a paired test says of a cell and the cell of the baseline: differences are the cell's minus
/// the baseline's, unscaled.
struct TestedDifference {
  double difference = 0;
  double p = 1;       ///< two-sided
  double p_holm = 1;  ///< over all tests of the table
  int64_t clusters = 0;
  bool significant = false;
  std::optional<Spread> interval = {};  ///< of the difference; none on too few clusters
};

struct TableCell {
  CellStatus status = CellStatus::absent;
  double value = 0;  ///< unscaled (F measures in 0..1); meaningful when status is `ok`
  std::optional<Spread> spread;
  int64_t n = 0;          ///< examples or repetitions behind the value; 0: not known
  int64_t clusters = -1;  ///< documents; -1: no interval was asked for
  std::string detail;     ///< "signal 9", "12/20", "host" …; short, may be empty
  int64_t conflicts = 0;  ///< outputs that a second computation contradicted
  int64_t empty = 0;      ///< of a score: texts among the n that are nothing, or white space alone
  CellSource source;      ///< empty where `seeds` say theirs
  std::vector<SeedValue> seeds;  ///< two or more, or none: the value is of one seed
  double deviation = 0;          ///< over `seeds`: sample standard deviation (n - 1), unscaled
  /// Equal in cells whose numbers may be compared: same examples and metric, or same machine and
  /// protocol; empty: with none.
  std::string comparable;
  bool best = false;    ///< of those that it may be compared with in its column
  bool oracle = false;  ///< reads references or evidence: an upper bound, not a competitor
  std::optional<TestedDifference> tested;
  bool untested = false;  ///< a score that could not be compared with the row asked for
  /// `value`, `spread` and `tested` are of the baseline minus this cell; its own score is not
  /// shown.
  bool difference = false;
};

/// Whether more or less of a value is better.
constexpr bool has_direction(Better better) {
  return better == Better::higher || better == Better::lower;
}

enum class ValueGroup { quality, performance, coverage };

/// How a value is headed and printed.
struct TableValue {
  std::string name;   ///< as asked for: "rouge1.f"
  std::string title;  ///< with its unit: "rouge1.f × 100"
  ValueGroup group = ValueGroup::quality;
  double scale = 1;  ///< the printed number is value * scale
  int decimals = 2;
  int spread_decimals = 1;
  Better better = Better::unknown;
};

/// A row or a column: one label for each of its axes; empty where the axis does not apply.
struct AxisEntry {
  std::vector<std::string> labels;
  bool oracle = false;  ///< it alone makes its cells oracles
};

/// What cells were tested against.
struct Baseline {
  std::string method;
  double level = 0;      ///< a difference is significant below it
  std::string test;      ///< its signature
  int64_t tests = 0;     ///< adjusted together
  int64_t untested = 0;  ///< numbers of other rows without a partner
  double least_p = 0;  ///< the smallest, adjusted, that any data on the fewest clusters could have
  /// The baseline minus a row stands in the place of the row's own values.
  bool differences = false;
  bool shared_seeds = false;  ///< a row lacks seeds, and is compared on those that both have
};

struct Table {
  std::string name;         ///< of the sweep
  std::string description;  ///< of the sweep; may be empty
  std::string sweep_id;     ///< full digest
  std::vector<std::string> row_axes;
  std::vector<std::string> column_axes;
  /// Where among the column axes the values stand side by side: before this one. Without it each
  /// value has a table of its own.
  std::optional<size_t> values_level;
  std::vector<AxisEntry> rows;
  std::vector<AxisEntry> columns;  ///< one without labels when there are no column axes
  std::vector<TableValue> values;
  std::vector<TableCell> cells;  ///< by row, column, value; see `cell`
  std::optional<Baseline> against;
  std::vector<std::string> mark_notes;        ///< what marks mean to who sees them, plain text
  std::vector<std::string> notes;             ///< all other footnotes, plain text
  std::vector<std::string> datasets;          ///< "mini-meetings/test/whole#a1c2… n=20"
  std::vector<std::string> signatures;        ///< of the metrics shown, "rouge: …"
  std::vector<std::string> interval_methods;  ///< signatures of those shown
  std::string signature;                      ///< one line that says what was computed, and how
  std::string store;  ///< "results.sqlite#3f9a…", the sweep in its file; may be empty

  size_t index(size_t row, size_t column, size_t value) const {
    return (row * columns.size() + column) * values.size() + value;
  }
  const TableCell& cell(size_t row, size_t column, size_t value) const {
    return cells[index(row, column, value)];
  }
  TableCell& cell(size_t row, size_t column, size_t value) {
    return cells[index(row, column, value)];
  }
};

}  // namespace qfs::reports
