// The second set of projections that LED's encoder layers have for global attention.
//
// Part of the weights; used by global_rows.h. Plain struct.
#pragma once

#include "methods/models/nn/dense.h"

namespace qfs::nn {

struct GlobalProjections {
  Linear query;      ///< [hidden, hidden]: only global positions ask
  Linear key_value;  ///< [2 hidden, hidden]: of all positions
};

}  // namespace qfs::nn
