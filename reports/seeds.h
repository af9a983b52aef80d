// Cells that differ in nothing but their seed, as one: mean and sample standard deviation.
//
// Called by build_table for places that share a row and a column. Pure functions; thread-safe.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/table.h"

namespace qfs::reports {

struct SeedCell {
  std::string seed;
  TableCell cell;
};

/// One cell is returned as it is: no deviation is made of one seed. Where a seed has no value there
/// is no mean of the others, but its trouble, with how many of the seeds have one ("2 of 3 seeds").
TableCell over_seeds(std::span<const SeedCell> cells);

/// What "±" means; empty where no cell has one.
std::vector<std::string> deviation_notes(const Table& table);

}  // namespace qfs::reports
