// KeyValueCache: keys and values of the positions that rows of a sequence model hold, on whatever
// device and in whatever type they are.
//
// Owned by implementations of SequenceModel, which read and write its tensors. Rows may go on from
// where other rows stand, as beams do, or begin as they began. Thread-compatible.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::nn {

/// What a cache holds of a position.
struct CacheShape {
  int64_t layers = 0;
  int64_t heads = 0;  ///< of keys and values
  int64_t dim = 0;
};

struct KeyValueCache {
  at::Tensor keys;    ///< [layers, rows, heads, capacity, dim]; undefined before there is room
  at::Tensor values;  ///< likewise
  std::vector<int64_t> lengths;  ///< positions that each row holds

  int64_t capacity() const { return keys.defined() ? keys.size(3) : 0; }
  bool has_room(int64_t rows, int64_t positions) const;

  /// At least `rows` empty rows of `positions` each; memory that suffices stays where it is.
  /// `out_of_memory`, and then there is no row.
  Status make_room(const CacheShape& shape, const at::TensorOptions& options, int64_t rows,
                   int64_t positions);

  /// Copies what rows `sources` hold to `rows`, all at once. `internal`: lists of different
  /// lengths, a row outside the cache or named twice, an empty source.
  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources);

  /// Copies the shared positions of a prompt of `tokens` tokens into the empty row `row`, whose
  /// length becomes theirs. `invalid_argument`: the source does not hold them, or nothing is left
  /// to read.
  Status copy_shared(const SharedPrefix& shared, int64_t tokens, int64_t row);
};

/// values[rows[i]] becomes what values[sources[i]] was, all at once, for rows that
/// KeyValueCache::reassign accepted.
template <class T>
void reassign_values(std::span<const int64_t> rows, std::span<const int64_t> sources,
                     std::vector<T>& values) {
  const std::vector<T> before = values;
  for (size_t i = 0; i < rows.size(); ++i) {
    values[static_cast<size_t>(rows[i])] = before[static_cast<size_t>(sources[i])];
  }
}

}  // namespace qfs::nn
