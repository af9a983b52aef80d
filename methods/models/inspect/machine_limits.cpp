#include "methods/models/inspect/machine_limits.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include "harness/core/clock.h"
#include "harness/core/rng.h"
#include "methods/models/inspect/device_memory.h"
#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/kernels/dense_kernels.h"
#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::inspect {

namespace {

constexpr double kMemorySeconds = 0.4;
constexpr double kProductSeconds = 0.6;
/// Values that a tensor's noise repeats.
constexpr int64_t kNoise = int64_t{1} << 16;
/// Rows of one task of the panel kernels.
constexpr int64_t kRowsOfTask = 64;

/// Weights of 32 MiB, which keeps a product far below the time that there is.
constexpr ProbeSize kCpuProbe = {512, int64_t{1} << 23, 1};

/// Values in [-0.5, 0.5). Not LibTorch's generator, whose state is the process's.
at::Tensor noise(int64_t rows, int64_t columns, const at::TensorOptions& options) {
  const at::Tensor values = at::empty({std::min(rows * columns, kNoise)});
  Rng rng(static_cast<uint64_t>(rows));
  float* const out = values.mutable_data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) out[i] = static_cast<float>(rng.uniform()) - 0.5F;
  const int64_t times = (rows * columns + values.numel() - 1) / values.numel();
  return values.to(options).repeat(times).narrow(0, 0, rows * columns).view({rows, columns});
}

/// The operands of one product.
struct Operands {
  Operands(const nn::WeightShape& weight, const ProbeSize& probe, const at::TensorOptions& options)
      : outputs(std::clamp(probe.most_elements / weight.inputs, int64_t{1}, weight.outputs)),
        x(noise(probe.rows, weight.inputs, options)),
        w(noise(outputs, weight.inputs, options)),
        y(at::empty({probe.rows, outputs}, options)) {}

  void multiply() { at::mm_out(y, x, w.t()); }
  double flops() const { return 2.0 * static_cast<double>(x.size(0) * outputs * x.size(1)); }

  int64_t outputs;
  at::Tensor x;
  at::Tensor w;
  at::Tensor y;
};

/// The same product by the panel kernels, float32 on a CPU.
class Panels {
 public:
  explicit Panels(Operands& operands)
      : operands_(operands),
        packed_(at::empty({kernels::panel_floats(operands.outputs, operands.x.size(1))})) {
    const int64_t inputs = operands.x.size(1);
    kernels::pack_rows(operands.w.const_data_ptr<float>(), operands.outputs, inputs, inputs,
                       packed_.mutable_data_ptr<float>());
  }

  void multiply(kernels::ThreadPool& pool) {
    const int64_t inputs = operands_.x.size(1);
    const int64_t outputs = operands_.outputs;
    const float* const from = operands_.x.const_data_ptr<float>();
    float* const to = operands_.y.mutable_data_ptr<float>();
    const float* const weight = packed_.const_data_ptr<float>();
    pool.for_ranges(operands_.x.size(0), kRowsOfTask, [&](int64_t begin, int64_t end) {
      kernels::dense_kernels().multiply({weight, nullptr, from + begin * inputs,
                                         to + begin * outputs, end - begin, inputs, outputs, inputs,
                                         outputs});
    });
  }

 private:
  Operands& operands_;
  at::Tensor packed_;
};

template <class Product>
int64_t time_of(Product&& product) {
  const int64_t begin = monotonic_ns();
  product();
  return std::max<int64_t>(monotonic_ns() - begin, 1);
}

/// Both ways in turn until `seconds` are over, at least once each after a warm-up.
ProductRate measure_float32(const nn::WeightShape& weight, kernels::ThreadPool& pool,
                            double seconds) {
  Operands operands(weight, kCpuProbe, at::TensorOptions());
  Panels own(operands);
  operands.multiply();
  own.multiply(pool);
  std::vector<int64_t> libtorch;
  std::vector<int64_t> panels;
  const int64_t end = monotonic_ns() + static_cast<int64_t>(seconds * 1e9);
  do {
    libtorch.push_back(time_of([&] { operands.multiply(); }));
    panels.push_back(time_of([&] { own.multiply(pool); }));
  } while (monotonic_ns() < end);
  return {weight, operands.outputs, kernels::observed_rate(std::move(libtorch), operands.flops()),
          kernels::observed_rate(std::move(panels), operands.flops())};
}

ProductRate measure_libtorch(const nn::WeightShape& weight, const ProbeSize& probe,
                             const at::TensorOptions& options, double seconds) {
  Operands operands(weight, probe, options);
  std::vector<int64_t> times = kernels::pass_times(seconds, [&] {
    for (int64_t i = 0; i < probe.products; ++i) operands.multiply();
    wait_for(operands.y);
  });
  const double flops = operands.flops() * static_cast<double>(probe.products);
  return {weight, operands.outputs, kernels::observed_rate(std::move(times), flops), std::nullopt};
}

/// The type in which a CPU multiplies what is of `type`.
c10::ScalarType product_type(c10::ScalarType type) {
  const bool own = type == c10::kBFloat16 && kernels::has_bfloat16_products();
  return own ? type : c10::kFloat;
}

Result<MeasuredLimits> measure_cpu(std::span<const nn::WeightShape> weights, c10::ScalarType type) {
  return nn::guarded("measuring the machine's limits", [&]() -> Result<MeasuredLimits> {
    MeasuredLimits measured;
    measured.threads = at::get_num_threads();
    measured.type = type;
    measured.rows = kCpuProbe.rows;
    kernels::ThreadPool pool(measured.threads);
    measured.memory = kernels::measure_memory(pool, kMemorySeconds);
    const double seconds = kProductSeconds / static_cast<double>(weights.size());
    for (const nn::WeightShape& weight : weights) {
      measured.products.push_back(type == c10::kFloat
                                      ? measure_float32(weight, pool, seconds)
                                      : measure_libtorch(weight, kCpuProbe, type, seconds));
    }
    return measured;
  });
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

std::vector<nn::WeightShape> general_shapes() {
  return {{1024, 1024, 1}, {4096, 1024, 1}, {1024, 4096, 1}, {2048, 2048, 1}};
}

Result<MeasuredLimits> measure_device(std::span<const nn::WeightShape> weights, c10::Device device,
                                      c10::ScalarType type, const ProbeSize& size) {
  return nn::guarded("measuring the device's limits", [&]() -> Result<MeasuredLimits> {
    MeasuredLimits measured;
    measured.threads = at::get_num_threads();
    measured.type = type;
    measured.rows = size.rows;
    measured.memory = measure_memory(device, size.buffer_bytes, kMemorySeconds);
    for (const nn::WeightShape& weight : weights) {
      measured.products.push_back(
          measure_libtorch(weight, size, at::TensorOptions().device(device).dtype(type),
                           kProductSeconds / static_cast<double>(weights.size())));
    }
    return measured;
  });
}

Result<MeasuredLimits> measure_limits(std::span<const nn::WeightShape> weights,
                                      const RuntimeOptions& runtime) {
  const auto type = nn::element_type_named(runtime.dtype);
  if (!type.ok()) return type.error();
  if (runtime.device == "cpu") return measure_cpu(weights, product_type(*type));
  return measure_device(weights, c10::Device(c10::kCUDA, 0), *type);
}

}  // namespace qfs::inspect
