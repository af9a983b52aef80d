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

/// Of logits that are not all in memory at once.
struct HeadLoss {
  /// Share of a position's loss that is the mean over the vocabulary instead of its label's
  /// (Szegedy et al. 2016; torch.nn.functional.cross_entropy's label_smoothing).
  double smoothing = 0;
  int64_t chunk_bytes = int64_t{12} << 20;  ///< of logits at once, at most; one position's at least
};

/// Sum over labelled positions of the same, of the logits that `head` makes of `states` [positions,
/// hidden]: a float32 scalar with the gradients of `states`, which are computed along with it
/// unless the head is trained, too; then its logits are computed again for both. Errors likewise.
Result<at::Tensor> summed_token_loss(const Linear& head, const at::Tensor& states,
                                     std::span<const int64_t> labels, const HeadLoss& loss = {});

/// log softmax(logits)[label] of every position by itself, likewise: [positions], float32, of
/// float64 states float64. Every position needs a label. For mixtures, whose gradient is no sum's.
Result<at::Tensor> label_log_probabilities(const Linear& head, const at::Tensor& states,
                                           std::span<const int64_t> labels,
                                           int64_t chunk_bytes = HeadLoss().chunk_bytes);

}  // namespace qfs::nn
