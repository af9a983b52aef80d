// SourceIndex: the encoder's states of a source of any length, of which each head of each layer
// reads those that score highest (Unlimiformer, Bertsch et al. 2023): one index for all of them.
//
// Made for an input by the network of unlimiformer's sessions, and shared by its beams. Immutable;
// thread-safe. On the CPU in float32, by an exact search. A key is q . (W_k h + b_k), and q . b_k
// is the same for all h: so states are ranked, and weighted, by (W_k^T q) . h, and a head's output
// is W_v of the weighted sum of states, with b_v; no keys and values are ever kept.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "methods/models/nn/adapters.h"
#include "methods/models/nn/dense.h"
#include "methods/models/nn/steps/retrieved_source.h"

namespace qfs::unlimiformer {

/// A layer's projections of the encoder's states, by head.
struct HeadProjections {
  at::Tensor keys;         ///< [heads, head_dim, hidden]
  at::Tensor values;       ///< likewise
  at::Tensor values_bias;  ///< [heads, head_dim]
};

/// Of a layer [2 heads head_dim, hidden], keys below values, with what `adapters` (or null) add.
HeadProjections head_projections(const nn::Linear& keys_values, int64_t heads,
                                 const nn::Adapters* adapters);

class SourceIndex final : public nn::RetrievedSource {
 public:
  /// `states` [tokens, hidden]; `layers`: of each layer; `retrieved`: states that a head reads, at
  /// most.
  SourceIndex(at::Tensor states, std::vector<HeadProjections> layers, int64_t retrieved);

  at::Tensor attend(size_t layer, const at::Tensor& queries) const override;

  int64_t tokens() const { return states_.size(0); }
  /// Of the states, which are all that it keeps for a source.
  int64_t bytes() const { return states_.numel() * static_cast<int64_t>(sizeof(float)); }

 private:
  at::Tensor states_;
  std::vector<HeadProjections> layers_;
  int64_t retrieved_;
};

/// The indices of the `k` highest of `scores`, rising; of equal ones the earlier. NaN is lowest.
std::vector<int64_t> highest(const float* scores, int64_t count, int64_t k);

}  // namespace qfs::unlimiformer
