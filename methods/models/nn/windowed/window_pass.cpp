#include "methods/models/nn/windowed/window_pass.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/arange.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace qfs::backbones {

// A private operator of LibTorch 2.11 (whose version bootstrap.sh and FindLibTorch pin): tensors
// are [batch, length, heads, head_dim], the log-sum-exp float32 [batch, heads, length] to base e.
AttentionPart flash_window_pass(const at::Tensor& queries, const at::Tensor& keys,
                                const at::Tensor& values, int64_t reach) {
  TORCH_CHECK(!at::GradMode::is_enabled() || !queries.requires_grad(),
              "windows by flash attention have no gradient");
  const int64_t length = queries.size(2);
  const auto result = at::_flash_attention_forward(
      queries.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2), std::nullopt,
      std::nullopt, length, length, /*dropout_p=*/0.0, /*is_causal=*/false,
      /*return_debug_mask=*/false, /*scale=*/std::nullopt, reach, reach);
  return {std::get<0>(result).transpose(1, 2), std::get<1>(result)};
}

AttentionPart block_window_pass(const at::Tensor& queries, const at::Tensor& keys,
                                const at::Tensor& values, int64_t reach) {
  constexpr int64_t kBlock = 128;
  const int64_t length = queries.size(2);
  const at::Tensor positions = at::arange(length, queries.options().dtype(at::kLong));
  std::vector<AttentionPart> parts;
  for (int64_t begin = 0; begin < length; begin += kBlock) {
    const int64_t count = std::min(kBlock, length - begin);
    const int64_t first = std::max<int64_t>(0, begin - reach);
    const int64_t reached = std::min(length, begin + count + reach) - first;
    const at::Tensor distance = positions.narrow(0, begin, count).unsqueeze(1) -
                                positions.narrow(0, first, reached).unsqueeze(0);
    parts.push_back(attend_to(queries.narrow(2, begin, count), keys.narrow(2, first, reached),
                              values.narrow(2, first, reached), distance.abs() <= reach));
  }
  return joined(parts);
}

}  // namespace qfs::backbones
