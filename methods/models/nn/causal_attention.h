// Self-attention of whole sequences at once.
//
// Used by sequences.h and by prompts on a CPU; gradients pass. Pure; thread-safe. LibTorch's
// exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include "methods/models/nn/decoder.h"
#include "methods/models/nn/rope.h"

namespace qfs::nn {

/// Queries, keys and values of tokens: [tokens, heads or kv_heads, head_dim] each.
struct Projections {
  at::Tensor queries;
  at::Tensor keys;
  at::Tensor values;
};

/// What tokens at `places` (int64 [tokens], on the CPU) are rotated by, where the decoder is and in
/// its type; nothing where positions are learned.
Rotations rotations_of(const Decoder& decoder, const at::Tensor& places);

/// The parts of qkv [tokens, (heads + 2 kv_heads) head_dim]; queries and keys rotated by `at` (of
/// these tokens) where it is defined.
Projections projections_of(const at::Tensor& qkv, const DecoderShape& shape, const Rotations& at);

/// Each token of one sequence, or of queries the last ones alone, to itself and those before it:
/// [queries, heads * head_dim]. Scores are divided by the square root of head_dim. `dropout`, or
/// null, falls on its weights at a place.
at::Tensor causal_attention(const Projections& sequence, const Dropout* dropout = nullptr,
                            uint64_t place = 0);

/// The same of qkv as projections_of has it; for gradients on a CPU it keeps the rotated qkv alone,
/// where LibTorch's operations keep shared keys once per query head, and the output.
/// `again`: it will be computed once more with gradients, to the same bits. With dropout of its
/// weights it is LibTorch's operations.
at::Tensor causal_attention(const at::Tensor& qkv, const DecoderShape& shape, const Rotations& at,
                            bool again = false, const Dropout* dropout = nullptr,
                            uint64_t place = 0);

}  // namespace qfs::nn
