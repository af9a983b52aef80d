#include "methods/models/kernels/packed_products.h"

namespace qfs::kernels {

namespace {

/// Inputs of a task's rows, which stay in a core's cache while weights pass.
constexpr int64_t kCachedInputs = int64_t{1} << 17;
/// Rows of a block of the kernels, or a multiple.
constexpr int64_t kBlockRows = 12;
constexpr int64_t kMostRows = 192;
/// Tasks for each thread, so that all end at about the same time.
constexpr int64_t kTasksOfThread = 4;

int64_t ceil_divide(int64_t count, int64_t size) { return (count + size - 1) / size; }

/// Calls `body(first, inputs)` for each part.
template <class Body>
void for_parts(int64_t inputs, int64_t part, const Body& body) {
  for (int64_t first = 0; first < inputs; first += part) {
    body(first, std::min(part, inputs - first));
  }
}

}  // namespace

void pack_panel(WeightRows rows, const float* from, int64_t stride, int64_t outputs, int64_t inputs,
                int64_t panel, int64_t part, float* panels) {
  const int64_t output = panel * kPanelWidth;
  const int64_t count = std::min(kPanelWidth, outputs - output);
  for_parts(inputs, part, [&](int64_t first, int64_t length) {
    float* const to = panels + panel_floats(outputs, first) + panel_floats(output, length);
    if (rows == WeightRows::outputs) {
      pack_rows(from + first, count, length, stride, to);
    } else {
      pack_columns(from + first * stride, count, length, stride, to);
    }
  });
}

PackedProduct::PackedProduct(const PanelProduct& whole, int64_t part, int threads)
    : whole_(whole),
      part_(part),
      task_rows_(std::clamp(kCachedInputs / whole.inputs / kBlockRows, int64_t{1},
                            kMostRows / kBlockRows) *
                 kBlockRows),
      row_tasks_(ceil_divide(whole.rows, task_rows_)) {
  const int64_t panels = panels_of(whole.outputs);
  const int64_t wanted = ceil_divide(kTasksOfThread * threads, row_tasks_);
  task_panels_ = ceil_divide(panels, std::min(wanted, panels));
  panel_tasks_ = ceil_divide(panels, task_panels_);
}

void PackedProduct::run(int64_t task) const {
  const int64_t row = task / panel_tasks_ * task_rows_;
  const int64_t output = task % panel_tasks_ * task_panels_ * kPanelWidth;
  for_parts(whole_.inputs, part_, [&](int64_t first, int64_t inputs) {
    PanelProduct part = whole_;
    part.panels += panel_floats(whole_.outputs, first) + panel_floats(output, inputs);
    part.x += row * whole_.x_stride + first;
    part.y += row * whole_.y_stride + output;
    part.rows = std::min(task_rows_, whole_.rows - row);
    part.inputs = inputs;
    part.outputs = std::min(task_panels_ * kPanelWidth, whole_.outputs - output);
    part.add = whole_.add || first > 0;
    dense_kernels().multiply(part);
  });
}

}  // namespace qfs::kernels
