// Dropout by a stream of random numbers, for whoever has one.
//
// LibTorch's exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include "harness/core/rng.h"

namespace qfs::nn {

/// x, whose elements, in order, are 0 with probability `rate` and else divided by 1 - rate.
at::Tensor dropped(const at::Tensor& x, double rate, Rng& rng);

}  // namespace qfs::nn
