// Dropout (Srivastava et al. 2014) as a function of an example, a step and the place in a model:
// layers that are computed again drop the same, and batches and resumption change nothing.
//
// Made by training for what it reads, applied by architectures. Pure; thread-safe. LibTorch's
// exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "methods/models/nn/dropout_rates.h"

namespace qfs::nn {

/// Of one example in one step. Elements are 0 with their probability and else divided by what
/// remains of 1; `place`: another for everything that is dropped of.
struct Dropout {
  DropoutRates rates;
  uint64_t stream = 0;

  /// Embeddings, or what a block adds to the residual stream.
  at::Tensor of_residual(const at::Tensor& x, uint64_t place) const;
  at::Tensor of_attention(const at::Tensor& weights, uint64_t place) const;
  /// What the second layer of an MLP reads.
  at::Tensor of_activation(const at::Tensor& x, uint64_t place) const;
  /// The same for one of several texts that are read for the example, or of several parts of what
  /// stands at a place.
  Dropout of_part(uint64_t part) const;
};

/// Blocks of a layer that add to the residual stream.
enum class LayerBlock : uint64_t { attention, cross_attention, mlp };

/// Places: embeddings, and blocks of each layer, of the encoder and of the decoder.
uint64_t embedding_place(bool decoder);
uint64_t block_place(bool decoder, size_t layer, LayerBlock block);

/// Which keys [length, keys] a query sees, for `attention`.
struct KeysSeen {
  std::optional<at::Tensor> mask = {};  ///< true: seen; broadcast to the scores
  bool causal = false;                  ///< those up to its own place
};

/// Whether some of attention's weights are dropped.
inline bool drops_attention(const Dropout* dropout) {
  return dropout != nullptr && dropout->rates.attention > 0;
}

/// Attention with dropout of its weights: queries [.., length, d], keys and values [.., keys, d] to
/// [.., length, d]; scores are divided by the square root of d. Without dropout (null, or of
/// nothing here) it is ATen's.
at::Tensor attention(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                     const KeysSeen& seen, const Dropout* dropout, uint64_t place);

}  // namespace qfs::nn
