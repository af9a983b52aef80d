// A whole sequence through a GPT-2 at once (teacher forcing), as training and conformance need it:
// gradients reach every weight that requires them.
//
// Pure; thread-safe. LibTorch's exceptions come out as Errors. gpt2_model.h generates.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "harness/api/result.h"
#include "methods/models/architectures/gpt2/gpt2_weights.h"

namespace qfs::architectures {

/// Logits after each of `ids`: [ids, vocabulary]. `invalid_argument`: no ids, too many, an unknown
/// one.
Result<at::Tensor> gpt2_logits(const Gpt2Weights& weights, std::span<const int32_t> ids);

}  // namespace qfs::architectures
