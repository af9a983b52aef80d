#include "methods/models/nn/steps/row_products.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "methods/models/kernels/cpu_kernels.h"

namespace qfs::nn {

namespace {

// Weight rows of one task: enough work to outweigh handing it out.
constexpr int64_t kRowsOfTask = 32;

}  // namespace

at::Tensor RowProducts::operator()(const Linear& linear, const at::Tensor& x) {
  const at::Tensor& weight = linear.weight;
  if (!x.is_cpu() || x.scalar_type() != at::kFloat) return apply(linear, x);
  const at::Tensor rows = x.contiguous();
  const at::Tensor out = at::empty({rows.size(0), weight.size(0)}, rows.options());
  if (linear.bias.defined()) out.copy_(linear.bias.expand_as(out));
  kernels::MatVec task;
  if (linear.packed) task.type = *linear.packed;
  task.weight = static_cast<const std::byte*>(weight.const_data_ptr());
  task.row_bytes = weight.size(1) * static_cast<int64_t>(weight.element_size());
  task.x = rows.const_data_ptr<float>();
  task.y = out.mutable_data_ptr<float>();
  task.inner = rows.size(1);
  task.batch = rows.size(0);
  task.y_stride = weight.size(0);
  task.accumulate = linear.bias.defined();
  const kernels::MatVecFn run = kernels::cpu_kernels().matvec;
  pool_.for_ranges(weight.size(0), kRowsOfTask,
                   [&](int64_t begin, int64_t end) { run(task, begin, end); });
  return out;
}

void copy_logits(const at::Tensor& product, std::span<float> logits) {
  const at::Tensor host = product.to(at::kCPU, at::kFloat).contiguous();
  std::copy_n(host.const_data_ptr<float>(), logits.size(), logits.data());
}

}  // namespace qfs::nn
