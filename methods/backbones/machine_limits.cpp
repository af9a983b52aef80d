#include "methods/backbones/machine_limits.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include <algorithm>

#include "harness/core/clock.h"
#include "harness/core/rng.h"
#include "methods/backbones/torch_runtime.h"
#include "methods/kernels/dense_kernels.h"

namespace qfs::backbones {

namespace {

constexpr int64_t kRows = 512;
constexpr double kMemorySeconds = 0.4;
constexpr double kProductSeconds = 0.6;
/// Elements of a probed weight: 32 MiB, which keeps a product far below the time that there is.
constexpr int64_t kMostElements = int64_t{1} << 23;
/// Rows of one task of the panel kernels.
constexpr int64_t kRowsOfTask = 64;

/// Values in [-0.5, 0.5). Not LibTorch's generator, whose state is the process's.
at::Tensor noise(int64_t rows, int64_t columns) {
  at::Tensor tensor = at::empty({rows, columns});
  Rng rng(static_cast<uint64_t>(rows));
  float* const values = tensor.mutable_data_ptr<float>();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    values[i] = static_cast<float>(rng.uniform()) - 0.5F;
  }
  return tensor;
}

/// The operands of one product.
struct Operands {
  explicit Operands(const WeightShape& weight)
      : outputs(std::clamp(kMostElements / weight.inputs, int64_t{1}, weight.outputs)),
        x(noise(kRows, weight.inputs)),
        w(noise(outputs, weight.inputs)),
        y(at::empty({kRows, outputs})),
        panels(at::empty({kernels::panel_floats(outputs, weight.inputs)})) {
    kernels::pack_rows(w.const_data_ptr<float>(), outputs, weight.inputs, weight.inputs,
                       panels.mutable_data_ptr<float>());
  }

  void multiply_by_libtorch() { at::mm_out(y, x, w.t()); }

  void multiply_by_panels(kernels::ThreadPool& pool) {
    const int64_t inputs = x.size(1);
    const float* const from = x.const_data_ptr<float>();
    float* const to = y.mutable_data_ptr<float>();
    const float* const weight = panels.const_data_ptr<float>();
    pool.for_ranges(kRows, kRowsOfTask, [&](int64_t begin, int64_t end) {
      kernels::dense_kernels().multiply({weight, nullptr, from + begin * inputs,
                                         to + begin * outputs, end - begin, inputs, outputs, inputs,
                                         outputs});
    });
  }

  double flops() const { return 2.0 * static_cast<double>(kRows * outputs * x.size(1)); }

  int64_t outputs;
  at::Tensor x;
  at::Tensor w;
  at::Tensor y;
  at::Tensor panels;
};

template <class Product>
int64_t time_of(Product&& product) {
  const int64_t begin = monotonic_ns();
  product();
  return std::max<int64_t>(monotonic_ns() - begin, 1);
}

/// Both ways in turn until `seconds` are over, at least once each after a warm-up.
ProductRate measure(const WeightShape& weight, kernels::ThreadPool& pool, double seconds) {
  Operands operands(weight);
  operands.multiply_by_libtorch();
  operands.multiply_by_panels(pool);
  std::vector<int64_t> libtorch;
  std::vector<int64_t> panels;
  const int64_t end = monotonic_ns() + static_cast<int64_t>(seconds * 1e9);
  do {
    libtorch.push_back(time_of([&] { operands.multiply_by_libtorch(); }));
    panels.push_back(time_of([&] { operands.multiply_by_panels(pool); }));
  } while (monotonic_ns() < end);
  return {weight, operands.outputs, kernels::observed_rate(std::move(libtorch), operands.flops()),
          kernels::observed_rate(std::move(panels), operands.flops())};
}

}  // namespace

double MeasuredLimits::gemm_flops() const {
  double elements = 0;
  double seconds = 0;
  for (const ProductRate& product : products) {
    const auto size = static_cast<double>(product.weight.elements());
    elements += size;
    seconds += size / product.best();
  }
  return elements / seconds;
}

MachineLimits MeasuredLimits::limits() const {
  return {static_cast<int64_t>(memory.read.best), static_cast<int64_t>(memory.copy.best),
          static_cast<int64_t>(gemm_flops())};
}

std::vector<WeightShape> general_shapes() {
  return {{1024, 1024, 1}, {4096, 1024, 1}, {1024, 4096, 1}, {2048, 2048, 1}};
}

Result<MeasuredLimits> measure_limits(std::span<const WeightShape> weights) {
  return guarded("measuring the machine's limits", [&]() -> Result<MeasuredLimits> {
    MeasuredLimits measured;
    measured.threads = at::get_num_threads();
    measured.rows = kRows;
    kernels::ThreadPool pool(measured.threads);
    measured.memory = kernels::measure_memory(pool, kMemorySeconds);
    for (const WeightShape& weight : weights) {
      measured.products.push_back(
          measure(weight, pool, kProductSeconds / static_cast<double>(weights.size())));
    }
    return measured;
  });
}

}  // namespace qfs::backbones
