// RetrievedSource: what a row of an encoder-decoder attends to in the place of all keys and values
// of its source: a source of any length, of which each head reads what it asks for.
//
// Implemented by methods (unlimiformer), called by StepModel in each layer and step. Immutable;
// rows that branch share it. LibTorch's exceptions pass through (callers guard).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "harness/api/result.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::nn {

class RetrievedSource {
 public:
  virtual ~RetrievedSource() = default;
  /// Cross-attention of one row: queries [heads, head_dim], not scaled, to [heads, head_dim].
  virtual at::Tensor attend(size_t layer, const at::Tensor& queries) const = 0;
};

/// Reads the source of an input. Errors: those of the input.
using ReadSource =
    std::function<Result<std::shared_ptr<const RetrievedSource>>(const SequenceInput& input)>;

}  // namespace qfs::nn
