#include "methods/models/nn/windowed/merged_attention.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "methods/models/nn/windowed/global_rows.h"

namespace qfs::backbones {

namespace {

constexpr int64_t kScoresAtOnce = 1 << 24;  // 64 MiB in float32

}  // namespace

MergedAttention::MergedAttention(std::span<const Window> windows,
                                 std::span<const GlobalProjections> projections,
                                 const std::vector<int64_t>& global, at::Device device,
                                 WindowPass window_pass)
    : windows_(windows),
      projections_(projections),
      window_pass_(window_pass),
      global_(at::tensor(global, at::kLong).to(device)) {}

AttentionPart MergedAttention::attend_to_far(const at::Tensor& qkv, int64_t reach) const {
  const at::Tensor queries = qkv.select(0, 0);
  const at::Tensor keys = qkv.select(0, 1).index_select(2, global_);
  const at::Tensor values = qkv.select(0, 2).index_select(2, global_);
  const int64_t length = queries.size(2);
  const int64_t rows = std::max<int64_t>(1, kScoresAtOnce / (queries.size(1) * global_.size(0)));
  const at::Tensor positions = at::arange(length, global_.options());
  std::vector<AttentionPart> parts;
  for (int64_t begin = 0; begin < length; begin += rows) {
    const int64_t count = std::min(rows, length - begin);
    const at::Tensor distance = positions.narrow(0, begin, count).unsqueeze(1) - global_;
    parts.push_back(
        attend_to(queries.narrow(2, begin, count), keys, values, distance.abs() > reach));
  }
  return joined(parts);
}

at::Tensor MergedAttention::attend(int64_t layer, const at::Tensor& states,
                                   const at::Tensor& qkv) const {
  const auto index = static_cast<size_t>(layer);
  const int64_t reach = windows_[index].reach;
  AttentionPart part = window_pass_(qkv.select(0, 0), qkv.select(0, 1), qkv.select(0, 2), reach);
  if (global_.size(0) == 0) return part.output.to(qkv.scalar_type());
  part = merged(part, attend_to_far(qkv, reach));
  return part.output.to(qkv.scalar_type())
      .index_copy(2, global_, global_rows(projections_[index], states, global_, qkv.size(2)));
}

}  // namespace qfs::backbones
