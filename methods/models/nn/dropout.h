// Dropout (Srivastava et al. 2014) as a function of an example, a step and the place in a model:
// layers that are computed again drop the same, and batches and resumption change nothing.
//
// Made by training for what it reads, applied by architectures. Pure; thread-safe. LibTorch's
// exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

namespace qfs::nn {

/// Of one example in one step.
struct Dropout {
  double rate = 0;  ///< in [0, 1)
  uint64_t stream = 0;

  /// x, whose elements are 0 with probability `rate` and else divided by 1 - rate. `place`: another
  /// for everything that is dropped of.
  at::Tensor apply(const at::Tensor& x, uint64_t place) const;
  /// The same for one of several texts that are read for the example.
  Dropout of_part(uint64_t part) const;
};

/// Blocks of a layer that add to the residual stream.
enum class LayerBlock : uint64_t { attention, cross_attention, mlp };

/// Places: embeddings, and blocks of each layer, of the encoder and of the decoder.
uint64_t embedding_place(bool decoder);
uint64_t block_place(bool decoder, size_t layer, LayerBlock block);

}  // namespace qfs::nn
