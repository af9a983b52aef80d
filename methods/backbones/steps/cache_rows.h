// Rows of a key-value cache that go on from where other rows stand, as beams do, or begin as they
// began.
//
// Called by implementations of SequenceModel. Pure but for the tensors; thread-compatible.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "methods/backbones/sequence_model.h"

namespace qfs::backbones {

/// What a cache holds of a position.
struct CacheShape {
  int64_t layers = 0;
  int64_t heads = 0;  ///< of keys and values
  int64_t dim = 0;
};

/// Copies what rows `sources` hold to `rows`, all at once. `keys` and `values`: [layers, rows,
/// heads, capacity, head_dim]; `lengths`: positions that each row holds. `internal`: lists of
/// different lengths, a row outside the cache or named twice, an empty source.
Status reassign_rows(std::span<const int64_t> rows, std::span<const int64_t> sources,
                     const at::Tensor& keys, const at::Tensor& values,
                     std::vector<int64_t>& lengths);

/// values[rows[i]] becomes what values[sources[i]] was, all at once, for rows that reassign_rows
/// accepted.
template <class T>
void reassign_values(std::span<const int64_t> rows, std::span<const int64_t> sources,
                     std::vector<T>& values) {
  const std::vector<T> before = values;
  for (size_t i = 0; i < rows.size(); ++i) {
    values[static_cast<size_t>(rows[i])] = before[static_cast<size_t>(sources[i])];
  }
}

/// Copies the shared positions of a prompt of `tokens` tokens into the empty row `row`, whose
/// length becomes theirs. `invalid_argument`: the source does not hold them, or nothing is left to
/// read.
Status copy_shared(const SharedPrefix& shared, int64_t tokens, int64_t row, const at::Tensor& keys,
                   const at::Tensor& values, std::vector<int64_t>& lengths);

}  // namespace qfs::backbones
