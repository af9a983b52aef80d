// The rows of LED's global tokens: each attends to the whole text, by projections of its own.
//
// Called by both ways of computing LED's attention. Pure; thread-safe. LibTorch's exceptions pass
// through (callers guard). Source: Beltagy et al. 2020.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "methods/models/nn/adapters.h"
#include "methods/models/nn/dropout.h"
#include "methods/models/nn/windowed/global_projections.h"

namespace qfs::nn {

/// `states` [1, length, hidden]: the layer's input; `global` int64 [global]: positions of it, at
/// least one; `adapters` of the projections, and `dropout` of the weights at a place, or null.
/// Returns [1, heads, global, head_dim].
at::Tensor global_rows(const GlobalProjections& projections, const at::Tensor& states,
                       const at::Tensor& global, int64_t heads, const Adapters* adapters,
                       const Dropout* dropout, uint64_t place);

}  // namespace qfs::nn
