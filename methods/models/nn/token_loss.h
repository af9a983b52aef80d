// The training loss of sequences: cross-entropy of the labelled positions.
//
// Pure; thread-safe. LibTorch's exceptions come out as Errors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/nn/dense.h"

namespace qfs::nn {

/// Label of a position that the loss leaves out, as in transformers.
inline constexpr int64_t kNoLabel = -100;

/// Mean over labelled positions of -log softmax(logits)[label], natural logarithm: a scalar with
/// the gradients of `logits` [positions, vocabulary]. `invalid_argument`: another number of labels,
/// none that counts, one outside the vocabulary.
Result<at::Tensor> token_loss(const at::Tensor& logits, std::span<const int64_t> labels);

/// Sum over labelled positions of the same, of the logits that `head` makes of `states` [positions,
/// hidden]: a float32 scalar with the gradients of `states`, which are computed along with it unless
/// the head is trained, too; then its logits are computed again for both. No more than `chunk_bytes`
/// of logits (one position's at least) are in memory at once. Errors likewise.
Result<at::Tensor> summed_token_loss(const Linear& head, const at::Tensor& states,
                                     std::span<const int64_t> labels,
                                     int64_t chunk_bytes = int64_t{12} << 20);

/// log softmax(logits)[label] of every position by itself, likewise: [positions], float32, of
/// float64 states float64. Every position needs a label. For mixtures, whose gradient is no sum's.
Result<at::Tensor> label_log_probabilities(const Linear& head, const at::Tensor& states,
                                           std::span<const int64_t> labels,
                                           int64_t chunk_bytes = int64_t{12} << 20);

}  // namespace qfs::nn
