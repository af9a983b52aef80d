// The cells of two stored sweeps, or of one, against each other: pairs, their comparisons, and what
// was left out on either side.
//
// Called by `compare` and gates. Statistics are read, never measured again. Not thread-safe (it
// reads by the sides' sources). Errors are the store's, or name the option; a cell that cannot be
// compared is no error but a part of the outcome.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/compare/cell_source.h"
#include "harness/compare/cells.h"
#include "harness/compare/comparison.h"

namespace qfs::compare {

struct StoredSide {
  std::string name;  ///< of the store, for people
  CellSource* source = nullptr;
  Cells cells;         ///< those that are meant, in the sweep's order, at all their places
  bool named = false;  ///< by conditions: one such cell a side is a pair whatever its id
};

/// Cells of A with the cells of B that they are compared with, and those without.
Result<Pairing> pair_sides(const StoredSide& a, const StoredSide& b,
                           const std::vector<std::string>& by);

/// `declared`: names of the metrics of both sweeps. A corpus value that is no mean of examples
/// (BLEU) is made of resampled statistics by its metric, when `catalog` has it under the stored
/// signature; else the column is left out. `not_found` for a column that no cell has.
Result<Outcome> compare_stores(const StoredSide& a, const StoredSide& b, const Request& request,
                               const MetricCatalog& catalog, std::span<const std::string> declared);

}  // namespace qfs::compare
