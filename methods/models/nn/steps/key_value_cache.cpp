#include "methods/models/nn/steps/key_value_cache.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <string>

#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

namespace {

/// Rows that change, with where each goes on from.
struct Moves {
  std::vector<int64_t> rows;
  std::vector<int64_t> sources;
  int64_t longest = 0;  ///< positions that the sources hold
};

Result<Moves> plan_moves(std::span<const int64_t> rows, std::span<const int64_t> sources,
                         const std::vector<int64_t>& lengths) {
  if (rows.size() != sources.size()) {
    return internal_error(std::to_string(rows.size()) + " rows go on from " +
                          std::to_string(sources.size()) + " others");
  }
  const auto count = static_cast<int64_t>(lengths.size());
  std::vector<bool> named(lengths.size());
  Moves moves;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (std::min(rows[i], sources[i]) < 0 || std::max(rows[i], sources[i]) >= count) {
      return internal_error("row " + std::to_string(rows[i]) + " or " + std::to_string(sources[i]) +
                            " is outside the cache");
    }
    if (named[static_cast<size_t>(rows[i])]) {
      return internal_error("row " + std::to_string(rows[i]) + " goes on from two others");
    }
    named[static_cast<size_t>(rows[i])] = true;
    const int64_t length = lengths[static_cast<size_t>(sources[i])];
    if (length < 1) return internal_error("row " + std::to_string(sources[i]) + " is empty");
    if (rows[i] == sources[i]) continue;
    moves.rows.push_back(rows[i]);
    moves.sources.push_back(sources[i]);
    moves.longest = std::max(moves.longest, length);
  }
  return moves;
}

}  // namespace

bool KeyValueCache::has_room(int64_t rows, int64_t positions) const {
  return keys.defined() && keys.size(1) >= rows && capacity() >= positions;
}

Status KeyValueCache::make_room(const CacheShape& shape, const at::TensorOptions& options,
                                int64_t rows, int64_t positions) {
  lengths.clear();
  return guarded("allocating the key-value cache", [&]() -> Status {
    if (!has_room(rows, positions)) {
      keys.reset();
      values.reset();
      const at::Tensor made =
          at::empty({shape.layers, rows, shape.heads, positions, shape.dim}, options);
      values = at::empty_like(made);
      keys = made;
    }
    lengths.assign(static_cast<size_t>(keys.size(1)), 0);
    return {};
  });
}

Status KeyValueCache::reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) {
  const Result<Moves> moves = plan_moves(rows, sources, lengths);
  if (!moves.ok()) return moves.error();
  if (moves->rows.empty()) return {};
  return guarded("moving rows of the key-value cache", [&]() -> Status {
    const at::Tensor to = at::tensor(moves->rows).to(keys.device());
    const at::Tensor from = at::tensor(moves->sources).to(keys.device());
    for (const at::Tensor& cache : {keys, values}) {
      // Of rows that hold a window alone, lengths may go beyond it.
      at::Tensor used = cache.narrow(3, 0, std::min(moves->longest, capacity()));
      used.index_copy_(1, to, used.index_select(1, from));
    }
    reassign_values<int64_t>(moves->rows, moves->sources, lengths);
    return {};
  });
}

Status KeyValueCache::copy_shared(const SharedPrefix& shared, int64_t tokens, int64_t row) {
  const bool inside = shared.row >= 0 && shared.row < static_cast<int64_t>(lengths.size());
  const int64_t held = inside && shared.row != row ? lengths[static_cast<size_t>(shared.row)] : 0;
  if (shared.positions < 1 || shared.positions > held || shared.positions >= tokens) {
    return invalid_argument("a prompt of " + std::to_string(tokens) + " tokens shares " +
                            std::to_string(shared.positions) + " with row " +
                            std::to_string(shared.row) + ", which holds " + std::to_string(held));
  }
  return guarded("copying a shared prefix", [&]() -> Status {
    for (const at::Tensor& cache : {keys, values}) {
      const at::Tensor used = cache.narrow(3, 0, shared.positions);
      used.select(1, row).copy_(used.select(1, shared.row));
    }
    lengths[static_cast<size_t>(row)] = shared.positions;
    return {};
  });
}

}  // namespace qfs::nn
