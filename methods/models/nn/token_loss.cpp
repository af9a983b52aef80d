#include "methods/models/nn/token_loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <optional>
#include <string>

#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

Result<at::Tensor> token_loss(const at::Tensor& logits, std::span<const int64_t> labels) {
  if (logits.dim() != 2 || logits.size(0) != static_cast<int64_t>(labels.size())) {
    return invalid_argument(std::to_string(labels.size()) + " labels for logits of " +
                            std::to_string(logits.dim() > 0 ? logits.size(0) : 0) + " positions");
  }
  if (std::ranges::all_of(labels, [](int64_t label) { return label == kNoLabel; })) {
    return invalid_argument("no position has a label");
  }
  for (const int64_t label : labels) {
    if (label != kNoLabel && (label < 0 || label >= logits.size(1))) {
      return invalid_argument("label " + std::to_string(label) + " is outside 0.." +
                              std::to_string(logits.size(1) - 1));
    }
  }
  return guarded("computing a loss", [&]() -> Result<at::Tensor> {
    return at::cross_entropy_loss(logits, at::tensor(labels).to(logits.device()), std::nullopt,
                                  at::Reduction::Mean, kNoLabel);
  });
}

}  // namespace qfs::nn
