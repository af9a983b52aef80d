// A whole sequence through a model of the LLaMA family at once (teacher forcing), as training and
// conformance need it: gradients reach every weight that requires them.
//
// Pure; thread-safe. LibTorch's exceptions come out as Errors. cpu_llama.h and device_llama.h
// generate.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "harness/api/result.h"
#include "methods/models/architectures/llama/device_llama_weights.h"

namespace qfs::architectures {

/// Logits after each of `ids`: [ids, vocabulary]. `invalid_argument`: no ids, too many, an unknown
/// one.
Result<at::Tensor> llama_logits(const DeviceLlamaWeights& weights, std::span<const int32_t> ids);

}  // namespace qfs::architectures
