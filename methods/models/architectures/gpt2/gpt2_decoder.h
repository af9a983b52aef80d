// GPT-2: the order of its layers, whoever computes products and attention.
//
// Used by gpt2_model.h (prompts, and steps of a few rows over caches) and gpt2_forward.h (a whole
// sequence at once). Pure but for what Gpt2Operations keep. LibTorch's exceptions pass through.
// Sources: Radford et al. 2019; transformers 5.23, modeling_gpt2.py.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>

#include "methods/models/architectures/gpt2/gpt2_weights.h"

namespace qfs::architectures {

/// What differs between a step, a prompt and a whole sequence. Rows are tokens.
class Gpt2Operations {
 public:
  virtual ~Gpt2Operations() = default;

  /// x [rows, inputs] to [rows, outputs].
  virtual at::Tensor multiply(const nn::Linear& linear, const at::Tensor& x) = 0;
  /// qkv [rows, 3 hidden] to [rows, hidden].
  virtual at::Tensor attend(const at::Tensor& qkv, size_t layer) = 0;
};

/// Last states of tokens (ids and positions of their sequences from 0: int32 or int64 [tokens]),
/// which `weights.head` multiplies: [tokens, hidden].
at::Tensor gpt2_states(const Gpt2Weights& weights, const at::Tensor& tokens,
                       const at::Tensor& positions, Gpt2Operations& operations);

}  // namespace qfs::architectures
