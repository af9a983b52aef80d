// Products of many rows with a weight that is not trained, and of the gradients that come back
// through it.
//
// Called where gradients are computed: reading a prompt packs its weights once (PrefillGemm). On a
// CPU in float32 they are computed by the kernels of packed_products.h, elsewhere and of few rows
// by LibTorch. Pure; thread-safe; LibTorch's exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include "methods/models/nn/dense.h"

namespace qfs::nn {

/// x [rows, inputs] W^T + b: [rows, outputs].
at::Tensor product(const Linear& linear, const at::Tensor& x);
/// above [rows, outputs] W: [rows, inputs].
at::Tensor product_back(const Linear& linear, const at::Tensor& above);

}  // namespace qfs::nn
