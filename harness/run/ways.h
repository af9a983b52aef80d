// Ways: one cell computed with other batches or with its examples in another order. What is asked
// stays (cell id), how it is computed changes (numerics id).
//
// Used by the batch back-off of run_plan and by the `noise` probe. Thread-safe; cannot fail.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/plan/plan.h"

namespace qfs::run {

/// Examples a unit, where that is numerics; std::nullopt for methods without such a parameter.
std::optional<int64_t> batch_size_of(const plan::Cell& cell);

/// Whether the method's declaration allows it, and its rules between parameters do.
Status check_batch_size(const plan::Cell& cell, int64_t batch_size);

struct Way {
  std::optional<int64_t> batch_size;  ///< absent: as it is
  bool reversed = false;              ///< the last example first

  friend bool operator==(const Way&, const Way&) = default;
};

/// The cell with its units cut anew; `cell` is one of `plan`.
plan::Cell in_another_way(const plan::Plan& plan, const plan::Cell& cell, const Way& way);

}  // namespace qfs::run
