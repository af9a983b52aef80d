// CellSource: where the numbers of cells come from: scores example by example, speed and memory,
// when they were made. Of a store (StoreCells), or of a committed baseline (harness/gate).
//
// Used by comparisons and gates, one a side. Not thread-safe. Errors are those of the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/json.h"
#include "harness/api/result.h"
#include "harness/compare/cells.h"
#include "harness/compare/performance.h"
#include "harness/store/reader.h"

namespace qfs::compare {

/// One example under one metric.
struct ScoredRow {
  int64_t ordinal = 0;
  std::string key;
  std::string cluster;  ///< its document
  bool empty = false;   ///< the scored text is nothing, or white space alone
  Statistics values;    ///< in the order of the job's columns
};

/// Speed and memory of one cell by the names that tables have for them ("tokens_per_second").
struct Measured {
  std::map<std::string, Repeated, std::less<>> values;
  std::string machine;            ///< see MeasuredAt
  bool several_machines = false;  ///< of runs that were not all timed on one
};

/// Of the attempts that made the outputs of one cell, in UTC; empty texts where none is known.
struct MadeAt {
  std::string first;
  std::string last;
};

class CellSource {
 public:
  virtual ~CellSource() = default;

  /// By ordinal. `job` is one of the cell's scores.
  virtual Result<std::vector<ScoredRow>> rows(const StoredCell& cell,
                                              const store::ScoreJobRow& job) = 0;
  /// By column: how far the corpus values of the cell's results lie apart that were computed with
  /// other numerics (batch size, machine) and are complete; zeros where there is but one.
  virtual Result<std::vector<double>> noise(const StoredCell& cell,
                                            const store::ScoreJobRow& job) = 0;
  /// Empty values for a cell that was not timed.
  virtual Result<Measured> measured(const StoredCell& cell) = 0;
  virtual Result<MadeAt> made(const StoredCell& cell) = 0;
  /// What the last attempt said when it ended; empty where nothing.
  virtual std::string last_message(const StoredCell& cell) = 0;
};

/// Cells of a store, whose reader outlives this.
class StoreCells : public CellSource {
 public:
  explicit StoreCells(store::Reader& reader) : reader_(reader) {}

  Result<std::vector<ScoredRow>> rows(const StoredCell& cell,
                                      const store::ScoreJobRow& job) override;
  Result<std::vector<double>> noise(const StoredCell& cell, const store::ScoreJobRow& job) override;
  Result<Measured> measured(const StoredCell& cell) override;
  Result<MadeAt> made(const StoredCell& cell) override;
  std::string last_message(const StoredCell& cell) override;

 private:
  struct Place {
    std::string key;
    std::string cluster;
  };
  using Examples = std::map<int64_t, Place>;

  Result<const Examples*> examples(const DatasetId& dataset);

  store::Reader& reader_;
  std::map<DatasetId, Examples> examples_;  ///< read once
};

}  // namespace qfs::compare
