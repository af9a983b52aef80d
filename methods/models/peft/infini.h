// The trained scalars of a compressive memory (nn/infini_memory.h) as tensors with names: those of
// IDEAL's release, in its shapes, which training, its checkpoints and adapter files have.
//
// Used by methods that train a memory. Plain functions; thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/nn/infini_memory.h"

namespace qfs::peft {

/// "llama.layers.N.attention.gate" [1, heads, 1, 1] (beta), and of a query-focused memory
/// "….gate_memory.weight" [1, head_dim] and, where there is one, "….gate_memory.bias" [1].
using InfiniTensors = std::map<std::string, at::Tensor>;

/// Whether a tensor has such a name.
bool is_memory_tensor(std::string_view name);

/// What training begins with: w_g and b_g as torch initializes a linear layer. A pure function of
/// seed and names; float32 on the CPU.
InfiniTensors new_memory(const nn::DecoderShape& shape, double beta, bool query_focused, bool bias,
                         uint64_t seed);

/// The mean over layers and heads of logistic(beta), the memory's share of attention; 0 without
/// one.
double mean_share(const InfiniTensors& tensors);

/// Puts the values of `other`, of the same names, in the place of those that training begins with.
/// `invalid_argument` says where the two differ; `source` names the other's file.
Status begin_memory(const InfiniTensors& other, const std::string& source, InfiniTensors& memory);

/// The same tensors by layer. `data` for one that is missing, or that this kind of memory does not
/// have; `source` names where they are from.
Result<std::vector<nn::InfiniScalars>> memory_scalars(const InfiniTensors& tensors,
                                                      const nn::DecoderShape& shape,
                                                      bool query_focused,
                                                      const std::string& source);

}  // namespace qfs::peft
