// RepeatedCells: cells of one side that differ in the seed alone, made one: their scores averaged
// example by example, the repetitions of their times and peaks together, so that what chance (or a
// live server, or the machine) does to one run weighs less.
//
// Used by run_gate where a policy asks for repeats. Not thread-safe; the side outlives it. Errors
// are those of the side's source.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "harness/compare/compare_stores.h"

namespace qfs::gate {

/// Cells that have everything but the seed in common, in the order of the first of each.
std::vector<compare::Cells> groups_of_repeats(const compare::Cells& cells);

class RepeatedCells : private compare::CellSource {
 public:
  RepeatedCells(const compare::StoredSide& side, int64_t repeats);

  /// The averaged cells; valid as long as this.
  compare::StoredSide side();
  /// Cells without so many runs, which are not among them, and how many they have.
  const std::vector<std::pair<const compare::StoredCell*, size_t>>& short_of_runs() const {
    return short_;
  }

 private:
  Result<std::vector<compare::ScoredRow>> rows(const compare::StoredCell& cell,
                                               const store::ScoreJobRow& job) override;
  Result<std::vector<double>> noise(const compare::StoredCell& cell,
                                    const store::ScoreJobRow& job) override;
  Result<compare::Measured> measured(const compare::StoredCell& cell) override;
  Result<compare::MadeAt> made(const compare::StoredCell& cell) override;
  std::string last_message(const compare::StoredCell& cell) override;

  const compare::Cells& runs_of(const compare::StoredCell& cell) const;

  const compare::StoredSide& side_;
  std::vector<std::unique_ptr<compare::StoredCell>> cells_;
  std::map<const compare::StoredCell*, compare::Cells> runs_;
  std::vector<std::pair<const compare::StoredCell*, size_t>> short_;
};

}  // namespace qfs::gate
