#include "methods/models/architectures/llama/prefill_gemm.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <vector>

#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/kernels/dense_kernels.h"

namespace qfs::architectures {

namespace {

using kernels::kPanelWidth;
using kernels::panel_floats;

/// Inputs of a task's rows, which stay in a core's cache while weights pass.
constexpr int64_t kCachedInputs = int64_t{1} << 17;
/// Inputs of a part of a weight. What is added up in one chain is short, so sums lose less to
/// rounding, and a panel of a part stays in a core's first cache.
constexpr int64_t kPartInputs = 192;
/// Rows of a block of the kernels, or a multiple.
constexpr int64_t kBlockRows = 12;
constexpr int64_t kMostRows = 192;
/// Tasks for each thread, so that all end at about the same time.
constexpr int64_t kTasksOfThread = 4;

int64_t ceil_divide(int64_t count, int64_t size) { return (count + size - 1) / size; }

/// Calls `body(first, inputs)` for each part.
template <class Body>
void for_parts(int64_t inputs, const Body& body) {
  for (int64_t first = 0; first < inputs; first += kPartInputs) {
    body(first, std::min(kPartInputs, inputs - first));
  }
}

int64_t panels_of(int64_t outputs) { return ceil_divide(outputs, kPanelWidth); }

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
  pool_.for_ranges(panels_of(matrix.rows), 1, [&](int64_t begin, int64_t end) {
    std::vector<float> expanded;
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t row = panel * kPanelWidth;
      const int64_t rows = std::min(kPanelWidth, matrix.rows - row);
      const float* from = reinterpret_cast<const float*>(matrix.row(row));
      if (matrix.type != TensorType::f32) {
        expanded.resize(static_cast<size_t>(rows * matrix.columns));
        expand(matrix.type, matrix.row(row), rows * matrix.columns, expanded.data());
        from = expanded.data();
      }
      for_parts(matrix.columns, [&](int64_t first, int64_t inputs) {
        kernels::pack_rows(from + first, rows, inputs, matrix.columns,
                           out + panel_floats(matrix.rows, first) + panel_floats(row, inputs));
      });
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
  whole.x_stride = x.stride(0);
  whole.y_stride = out.stride(0);
  const int64_t task_rows =
      std::clamp(kCachedInputs / weight.inputs / kBlockRows, int64_t{1}, kMostRows / kBlockRows) *
      kBlockRows;
  const int64_t row_tasks = ceil_divide(whole.rows, task_rows);
  const int64_t panels = panels_of(weight.outputs);
  const int64_t wanted = ceil_divide(kTasksOfThread * pool_.threads(), row_tasks);
  const int64_t task_panels = ceil_divide(panels, std::min(wanted, panels));
  const int64_t panel_tasks = ceil_divide(panels, task_panels);
  pool_.for_items(row_tasks * panel_tasks, [&](int64_t task) {
    const int64_t row = task / panel_tasks * task_rows;
    const int64_t output = task % panel_tasks * task_panels * kPanelWidth;
    for_parts(weight.inputs, [&](int64_t first, int64_t inputs) {
      kernels::PanelProduct part = whole;
      part.panels += panel_floats(weight.outputs, first) + panel_floats(output, inputs);
      part.x += row * whole.x_stride + first;
      part.y += row * whole.y_stride + output;
      part.rows = std::min(task_rows, whole.rows - row);
      part.inputs = inputs;
      part.outputs = std::min(task_panels * kPanelWidth, weight.outputs - output);
      part.add = add || first > 0;
      kernels::dense_kernels().multiply(part);
    });
  });
}

}  // namespace qfs::architectures
