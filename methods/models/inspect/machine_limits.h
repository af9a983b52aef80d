// What this machine does at most, measured in the process that runs a model and with its threads or
// on its device: read and copy bandwidth, and the rate of matrix products in the type and the
// shapes of the model.
//
// Called by sessions in timed passes and by the roofline. A limit is the best that was observed;
// median and worst are there to show how quiet the machine was. Takes about a second; LibTorch's
// exceptions come out as Errors.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/api/method.h"
#include "harness/api/result.h"
#include "harness/api/work.h"
#include "methods/models/kernels/memory_rates.h"
#include "methods/models/nn/model_work.h"

namespace qfs::inspect {

/// Operations a second of x [rows, inputs] times the transposed weight [outputs, inputs].
struct ProductRate {
  nn::WeightShape weight;
  int64_t probed_outputs = 0;                   ///< large weights are probed by their first rows
  kernels::ObservedRate libtorch;               ///< at::mm (MKL, oneDNN or cuBLAS)
  std::optional<kernels::ObservedRate> panels;  ///< kernels/dense_kernels.h, float32 on a CPU

  double best() const { return std::max(libtorch.best, panels ? panels->best : 0); }
};

struct MeasuredLimits {
  int threads = 0;
  c10::ScalarType type = c10::ScalarType::Float;  ///< of the products
  int64_t rows = 0;                               ///< of the probed products
  kernels::MemoryRates memory;
  std::vector<ProductRate> products;

  /// All products once, each at its best rate: operations by the sum of their times.
  double gemm_flops() const;
  MachineLimits limits() const;
};

/// Shapes for machines without a model: squares and a feed-forward layer's.
std::vector<nn::WeightShape> general_shapes();

/// `weights`: those of a model that all tokens of its input pass; not empty. Random data. `runtime`
/// as configure_torch accepted it; a CPU that has no products of a type does them in float32.
Result<MeasuredLimits> measure_limits(std::span<const nn::WeightShape> weights,
                                      const RuntimeOptions& runtime);

/// What is multiplied and moved to measure a device.
struct ProbeSize {
  int64_t rows = 4096;
  int64_t most_elements = int64_t{1} << 27;  ///< of a weight
  int64_t products = 8;  ///< of a pass: what starting and ending one takes is then little of it
  int64_t buffer_bytes = int64_t{1} << 31;
};

/// How measure_limits measures a device: products by LibTorch, bandwidths by device_memory.h.
Result<MeasuredLimits> measure_device(std::span<const nn::WeightShape> weights, c10::Device device,
                                      c10::ScalarType type, const ProbeSize& size = {});

}  // namespace qfs::inspect
