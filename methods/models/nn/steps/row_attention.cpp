#include "methods/models/nn/steps/row_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <vector>

namespace qfs::nn {

RowAttention::RowAttention(kernels::ThreadPool& pool, int64_t heads, int64_t kv_heads, int64_t dim)
    : pool_(pool), heads_(heads), dim_(dim), attention_(heads, kv_heads, dim) {}

at::Tensor RowAttention::step(const at::Tensor& queries, std::span<const KeyValues> rows) {
  std::vector<AttendedRow> attended;
  attended.reserve(rows.size());
  for (const KeyValues& row : rows) {
    attended.push_back({row.keys.const_data_ptr<float>(), row.values.const_data_ptr<float>(),
                        row.keys.size(1), row.keys.stride(0)});
  }
  at::Tensor out = at::empty({queries.size(0), heads_ * dim_}, queries.options());
  attention_.attend(pool_, queries.const_data_ptr<float>(), queries.stride(0), attended,
                    out.mutable_data_ptr<float>());
  return out;
}

at::Tensor RowAttention::operator()(const at::Tensor& queries, std::span<const KeyValues> rows) {
  if (queries.is_cpu() && queries.scalar_type() == at::kFloat) return step(queries, rows);
  std::vector<at::Tensor> attended;
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin + 1;
    while (end < rows.size() && rows[end].keys.is_same(rows[begin].keys)) ++end;
    const auto count = static_cast<int64_t>(end - begin);
    const at::Tensor asking =
        queries.narrow(0, static_cast<int64_t>(begin), count).transpose(0, 1).unsqueeze(0);
    const int64_t sharing = heads_ / rows[begin].keys.size(0);
    const auto shared = [&](const at::Tensor& states) {
      return (sharing == 1 ? states : states.repeat_interleave(sharing, 0)).unsqueeze(0);
    };
    attended.push_back(at::scaled_dot_product_attention(asking, shared(rows[begin].keys),
                                                        shared(rows[begin].values))
                           .squeeze(0)
                           .transpose(0, 1)
                           .reshape({count, heads_ * dim_}));
    begin = end;
  }
  return at::cat(attended);
}

}  // namespace qfs::nn
