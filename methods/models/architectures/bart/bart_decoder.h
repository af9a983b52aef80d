// The decoder of the BART family: the order of its layers, whoever computes products and attention.
//
// Used by bart_model.h and device_bart.h (a step of a few rows over caches) and bart_forward.h (a
// whole sequence at once). Pure but for what DecoderOperations keep; reads no tensor back to the
// host, so that a device can record it. LibTorch's exceptions pass through. Sources: Lewis et al.
// 2020; transformers 5.23, modeling_bart.py.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>

#include "methods/models/architectures/bart/bart_weights.h"

namespace qfs::architectures {

/// What differs between a step and a whole sequence. Rows are tokens.
class DecoderOperations {
 public:
  virtual ~DecoderOperations() = default;

  /// x [rows, inputs] to [rows, outputs].
  virtual at::Tensor multiply(const nn::Linear& linear, const at::Tensor& x) = 0;
  /// Self-attention; qkv [rows, 3 hidden] to [rows, hidden].
  virtual at::Tensor attend_past(const at::Tensor& qkv, size_t layer) = 0;
  /// Cross-attention; queries [rows, hidden] to [rows, hidden].
  virtual at::Tensor attend_source(const at::Tensor& queries, size_t layer) = 0;
};

/// Last states of tokens (ids and positions of their sequences from 0: int32 or int64 [tokens], on
/// the weights' device), which `weights.head` multiplies: [tokens, hidden].
at::Tensor decoder_states(const BartWeights& weights, const at::Tensor& tokens,
                          const at::Tensor& positions, DecoderOperations& operations);

/// Their logits: [tokens, vocabulary].
at::Tensor decoder_logits(const BartWeights& weights, const at::Tensor& tokens,
                          const at::Tensor& positions, DecoderOperations& operations);

/// A layer's cross-attention keys and values of the encoder's states [1, tokens, hidden]:
/// [2, heads, tokens, head_dim].
at::Tensor cross_keys_values(const BartWeights& weights, const DecoderLayer& layer,
                             const at::Tensor& states);

}  // namespace qfs::architectures
