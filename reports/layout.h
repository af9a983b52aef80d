// Layout: which row and column each place of a sweep goes to.
//
// Dimensions that vary but were not asked for become additional row axes, so that cells share one
// place only where they differ in nothing but the seed. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/api/experiment.h"
#include "harness/api/result.h"
#include "reports/sweep_facts.h"

namespace qfs::reports {

struct Slot {
  size_t row = 0;
  size_t column = 0;
  friend bool operator==(const Slot&, const Slot&) = default;
};

struct Layout {
  std::vector<std::string> row_axes;
  std::vector<std::string> column_axes;  ///< without kValuesAxis
  std::optional<size_t> values_level;    ///< as Table has it
  /// Labels by axis, in order: numbers ascending, texts as they first appear in the sweep.
  std::vector<std::vector<std::string>> rows;
  std::vector<std::vector<std::string>> columns;  ///< one empty entry without column axes
  std::vector<Slot> slots;                        ///< one a place
};

/// `invalid_argument` for an axis that no cell of the sweep has (with the nearest name) or that is
/// named twice.
Result<Layout> arrange(std::span<const PlaceFacts> places, const TableSettings& settings);

}  // namespace qfs::reports
