// Products of many rows with a whole weight in float32: how the weight lies in panels, and how the
// work is cut into tasks for threads.
//
// Called by whoever reads many tokens on a CPU. The weight is packed a part of its inputs after the
// other: what is added up in one chain is short, so sums lose less to rounding, and a panel of a
// short part stays in a core's first cache. A value depends on its own row alone. Thread-safe;
// cannot fail.
#pragma once

#include <algorithm>
#include <cstdint>

#include "methods/models/kernels/dense_kernels.h"

namespace qfs::kernels {

/// Panels of a weight [outputs, inputs].
constexpr int64_t panels_of(int64_t outputs) { return (outputs + kPanelWidth - 1) / kPanelWidth; }

/// How rows lie from which panels are packed.
enum class WeightRows {
  outputs,  ///< [outputs, inputs]
  inputs,   ///< [inputs, outputs], the transposed weight
};

/// Packs one panel of a weight [outputs, inputs] into `panels`, which holds panel_floats(outputs,
/// inputs), in parts of `part` inputs. `from`: the first value of the panel's own, rows `stride`
/// floats apart.
void pack_panel(WeightRows rows, const float* from, int64_t stride, int64_t outputs, int64_t inputs,
                int64_t panel, int64_t part, float* panels);

/// y = x W^T, or with `add` y += x W^T, as PanelProduct has it; panels by pack_panel with the same
/// `part`.
class PackedProduct {
 public:
  PackedProduct(const PanelProduct& whole, int64_t part, int threads);

  int64_t tasks() const { return row_tasks_ * panel_tasks_; }
  /// Any task, at any time; together they are the product.
  void run(int64_t task) const;

 private:
  PanelProduct whole_;
  int64_t part_;
  int64_t task_rows_;
  int64_t row_tasks_;
  int64_t task_panels_;
  int64_t panel_tasks_;
};

}  // namespace qfs::kernels
