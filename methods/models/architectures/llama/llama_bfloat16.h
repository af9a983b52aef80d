// The weights of a LLaMA-type model rounded to bfloat16.
//
// Called by llama_network.h when that element type is asked for on a CPU. Pure; thread-safe.
#pragma once

#include <memory>

#include "harness/api/result.h"
#include "methods/models/architectures/llama/llama_weights.h"

namespace qfs::architectures {

/// Every value to the nearest bfloat16, ties to even; matrices are stored as such, those that are
/// already are shared. Rotations stay float32. `out_of_memory`.
Result<std::shared_ptr<const LlamaWeights>> rounded_to_bfloat16(
    std::shared_ptr<const LlamaWeights> weights);

}  // namespace qfs::architectures
