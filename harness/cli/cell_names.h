// CellNames: short names of a plan's cells for people: the label and whatever tells the cells of
// this plan apart. Also durations in words. Immutable; thread-safe.
#pragma once

#include <map>
#include <set>
#include <string>

#include "harness/plan/plan.h"

namespace qfs::cli {

class CellNames {
 public:
  explicit CellNames(const plan::Plan& plan);

  /// "zero_shot local_context=256"; with data set, seed and backbone where they vary.
  std::string of(const plan::Cell& cell) const;
  /// "train#1f2e3d4c5b6a lora rank=8", of the cell of a plan::Training.
  std::string of_training(const plan::Cell& cell) const;

 private:
  std::string with_varying(const plan::Cell& cell) const;

  const plan::Plan& plan_;
  std::map<std::string, std::set<std::string>, std::less<>> varying_;  ///< by label: parameters
  bool several_datasets_ = false;
  bool several_seeds_ = false;
  bool several_backbones_ = false;
};

/// "0.4 s", "35 s", "4 min 10 s", "2 h 05 min".
std::string duration_text(double seconds);

}  // namespace qfs::cli
