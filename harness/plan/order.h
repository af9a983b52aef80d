// Execution order: cells that can share a host are neighbours, and the longest of them comes first,
// so that memory runs out early rather than after hours. Used by make_plan. Thread-safe.
#pragma once

#include <vector>

#include "harness/plan/plan.h"

namespace qfs::plan {

/// Reorders `cells`: light hosts before external before tensor ones (quick results and quick errors
/// first), groups of equal weights_key by falling total of predicted seconds, cells in a group by
/// falling seconds; ties keep their order. Measured times play no part: a resumed sweep has the
/// order of the first run.
void order_cells(std::vector<Cell>& cells);

}  // namespace qfs::plan
