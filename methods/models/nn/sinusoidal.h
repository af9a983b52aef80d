// Sinusoidal position tables.
//
// Called by loaders whose checkpoints leave the table out. LibTorch's exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace qfs::nn {

/// [rows, width]: sines in the first half of a row, cosines in the second, of row / 10000^(2 i /
/// width). Vaswani et al. 2017 in the layout of PEGASUS and Marian (transformers 5.23,
/// modeling_pegasus.py).
at::Tensor sinusoidal_positions(int64_t rows, int64_t width);

}  // namespace qfs::nn
