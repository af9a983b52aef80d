// The training loss of a sequence: mean cross-entropy of the labelled positions.
//
// Pure; thread-safe. LibTorch's exceptions come out as Errors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "harness/api/result.h"

namespace qfs::nn {

/// Label of a position that the loss leaves out, as in transformers.
inline constexpr int64_t kNoLabel = -100;

/// Mean over labelled positions of -log softmax(logits)[label], natural logarithm: a scalar with
/// the gradients of `logits` [positions, vocabulary]. `invalid_argument`: another number of labels,
/// none that counts, one outside the vocabulary.
Result<at::Tensor> token_loss(const at::Tensor& logits, std::span<const int64_t> labels);

}  // namespace qfs::nn
