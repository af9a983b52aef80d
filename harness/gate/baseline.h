// Baseline: the scores of a sweep's cells, example by example, as JSON lines that live in a
// repository: one line a cell, a score and an example, in the sweep's order, the last one with the
// SHA-256 of all others; equal stores give equal bytes.
//
// Written by `baseline set`, read by `gate` in place of a store. No outputs and no texts are in it.
// A loaded one is immutable; reading is thread-safe. Errors name file, line and JSON pointer.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/compare/cell_source.h"
#include "harness/compare/compare_stores.h"

namespace qfs::gate {

struct BaselineInfo {
  std::string name;
  std::string sweep;
  std::vector<std::string> metrics;  ///< names of the sweep's metrics
  std::vector<std::string> shown = {};  ///< values of the sweep's table
};

class Baseline final : public compare::CellSource {
 public:
  static Result<Baseline> load(const std::string& path);
  static Result<Baseline> decode(std::string_view text, const std::string& path);

  const BaselineInfo& info() const { return info_; }
  /// Valid as long as this stays where it is.
  compare::Cells cells() const;

  Result<std::vector<compare::ScoredRow>> rows(const compare::StoredCell& cell,
                                               const store::ScoreJobRow& job) override;
  Result<std::vector<double>> noise(const compare::StoredCell& cell,
                                    const store::ScoreJobRow& job) override;
  Result<compare::Measured> measured(const compare::StoredCell& cell) override;
  Result<compare::MadeAt> made(const compare::StoredCell& cell) override;
  std::string last_message(const compare::StoredCell& cell) override;

 private:
  friend class BaselineDecoder;

  struct Score {
    std::vector<double> noise;
    std::vector<compare::ScoredRow> rows;
  };
  using Key = std::pair<CellId, std::string>;  ///< a cell and a signature

  BaselineInfo info_;
  std::deque<compare::StoredCell> cells_;
  std::map<Key, Score> scores_;
  std::map<CellId, compare::Measured> measured_;
  std::map<CellId, compare::MadeAt> made_;
};

struct BaselineContents {
  std::string text;
  size_t cells = 0;
  std::vector<compare::NotCompared> left_out;  ///< cells without whole scores
};

/// The file of these cells; with `measured` also their speed and memory, which differ from run to
/// run. Names of cells and the reasons why some have no place in it come beside it.
Result<BaselineContents> write_baseline(const compare::StoredSide& side, const BaselineInfo& info,
                                        bool measured);

/// Whether an argument names a baseline file rather than a store.
bool is_baseline_file(std::string_view path);

/// Whether the file at `path` begins as a baseline does, of whatever schema.
bool holds_baseline(const std::string& path);

}  // namespace qfs::gate
