#include "methods/models/architectures/llama/prefill_gemm.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <vector>

#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/kernels/packed_products.h"

namespace qfs::architectures {

using kernels::panel_floats;

namespace {

/// Of products, on which the bits of stored outputs rest.
constexpr int64_t kPartInputs = 192;

}  // namespace

PrefillGemm::PrefillGemm(kernels::ThreadPool& pool, const LlamaConfig& config, bool bfloat16)
    : pool_(pool),
      bfloat16_(bfloat16),
      first_(at::empty(
          {std::max({panel_floats(2 * config.intermediate, config.hidden),
                     panel_floats(config.query_width() + 2 * config.kv_width(), config.hidden),
                     panel_floats(config.hidden, config.query_width())})})),
      second_(at::empty({panel_floats(config.hidden, config.intermediate)})) {}

PrefillWeight PrefillGemm::weight(const nn::Matrix& matrix, Place place) {
  using checkpoints::TensorType;
  PrefillWeight weight = {matrix.rows, matrix.columns, nullptr, {}};
  if (bfloat16_ && matrix.type == TensorType::bf16) {
    weight.bfloat16 =
        at::from_blob(matrix.data.get(), {matrix.rows, matrix.columns}, at::kBFloat16).t();
    return weight;
  }
  float* const out = (place == Place::first ? first_ : second_).mutable_data_ptr<float>();
  const auto expand = kernels::cpu_kernels().expand;
  pool_.for_ranges(kernels::panels_of(matrix.rows), 1, [&](int64_t begin, int64_t end) {
    std::vector<float> expanded;
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t row = panel * kernels::kPanelWidth;
      const float* from = reinterpret_cast<const float*>(matrix.row(row));
      if (matrix.type != TensorType::f32) {
        const int64_t elements = std::min(kernels::kPanelWidth, matrix.rows - row) * matrix.columns;
        expanded.resize(static_cast<size_t>(elements));
        expand(matrix.type, matrix.row(row), elements, expanded.data());
        from = expanded.data();
      }
      kernels::pack_panel(kernels::WeightRows::outputs, from, matrix.columns, matrix.rows,
                          matrix.columns, panel, kPartInputs, out);
    }
  });
  weight.panels = out;
  return weight;
}

void PrefillGemm::multiply(const at::Tensor& x, const PrefillWeight& weight,
                           const at::Tensor& out) {
  if (weight.bfloat16.defined()) {
    out.copy_(at::mm(x.to(at::kBFloat16), weight.bfloat16));
  } else {
    multiply_panels(x, weight, out, false);
  }
}

void PrefillGemm::add(const at::Tensor& x, const PrefillWeight& weight, const at::Tensor& sums) {
  if (weight.bfloat16.defined()) {
    sums.add_(at::mm(x.to(at::kBFloat16), weight.bfloat16));
  } else {
    multiply_panels(x, weight, sums, true);
  }
}

void PrefillGemm::multiply_panels(const at::Tensor& x, const PrefillWeight& weight,
                                  const at::Tensor& out, bool add) {
  kernels::PanelProduct whole;
  whole.panels = weight.panels;
  whole.x = x.const_data_ptr<float>();
  whole.y = out.mutable_data_ptr<float>();
  whole.rows = x.size(0);
  whole.inputs = weight.inputs;
  whole.outputs = weight.outputs;
  whole.x_stride = x.stride(0);
  whole.y_stride = out.stride(0);
  whole.add = add;
  const kernels::PackedProduct product(whole, kPartInputs, pool_.threads());
  pool_.for_items(product.tasks(), [&](int64_t task) { product.run(task); });
}

}  // namespace qfs::architectures
