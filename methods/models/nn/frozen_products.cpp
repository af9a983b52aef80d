#include "methods/models/nn/frozen_products.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>

#include "methods/models/kernels/packed_products.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

namespace {

/// Fewer rows do not outweigh packing.
constexpr int64_t kFewestRows = 32;

bool by_own_kernels(const at::Tensor& x, const at::Tensor& weight) {
  return x.device().is_cpu() && x.scalar_type() == at::kFloat && x.size(0) >= kFewestRows &&
         x.stride(1) == 1 && weight.is_contiguous();
}

/// x [rows, inputs] by a weight that lies as `lie` says, to [rows, outputs].
at::Tensor packed_product(const at::Tensor& x, const at::Tensor& weight, kernels::WeightRows lie) {
  const bool turned = lie == kernels::WeightRows::inputs;
  const int64_t outputs = weight.size(turned ? 1 : 0);
  const int64_t inputs = weight.size(turned ? 0 : 1);
  const at::Tensor packed = at::empty({kernels::panel_floats(outputs, inputs)});
  const auto* const from = weight.const_data_ptr<float>();
  auto* const panels = packed.mutable_data_ptr<float>();
  for_items(kernels::panels_of(outputs), [&](int64_t panel) {
    const int64_t output = panel * kernels::kPanelWidth;
    kernels::pack_panel(lie, from + output * (turned ? 1 : inputs), weight.size(1), outputs, inputs,
                        panel, panels);
  });
  const at::Tensor y = at::empty({x.size(0), outputs});
  const kernels::PackedProduct product({.panels = panels,
                                        .x = x.const_data_ptr<float>(),
                                        .y = y.mutable_data_ptr<float>(),
                                        .rows = x.size(0),
                                        .inputs = inputs,
                                        .outputs = outputs,
                                        .x_stride = x.stride(0),
                                        .y_stride = outputs},
                                       at::get_num_threads());
  for_items(product.tasks(), [&](int64_t task) { product.run(task); });
  return y;
}

}  // namespace

at::Tensor product(const Linear& linear, const at::Tensor& x) {
  if (!by_own_kernels(x, linear.weight)) return apply(linear, x);
  at::Tensor y = packed_product(x, linear.weight, kernels::WeightRows::outputs);
  if (linear.bias.defined()) y.add_(linear.bias);
  return y;
}

at::Tensor product_back(const Linear& linear, const at::Tensor& above) {
  if (!by_own_kernels(above, linear.weight)) return at::matmul(above, linear.weight);
  return packed_product(above, linear.weight, kernels::WeightRows::inputs);
}

}  // namespace qfs::nn
