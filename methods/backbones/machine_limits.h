// What this machine does at most, measured in the process that runs a model and with its threads:
// read and copy bandwidth, and the rate of float32 matrix products in the shapes of the model.
//
// Called by sessions in timed passes and by the roofline, on a CPU. A limit is the best that was
// observed; median and worst are there to show how quiet the machine was. Takes about a second;
// LibTorch's exceptions come out as Errors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "harness/api/work.h"
#include "methods/backbones/model_work.h"
#include "methods/kernels/memory_rates.h"

namespace qfs::backbones {

/// Operations a second of x [rows, inputs] times the transposed weight [outputs, inputs].
struct ProductRate {
  WeightShape weight;
  int64_t probed_outputs = 0;      ///< large weights are probed by their first rows
  kernels::ObservedRate libtorch;  ///< at::mm (MKL or oneDNN)
  kernels::ObservedRate panels;    ///< kernels/dense_kernels.h

  double best() const { return libtorch.best > panels.best ? libtorch.best : panels.best; }
};

struct MeasuredLimits {
  int threads = 0;
  int64_t rows = 0;  ///< of the probed products
  kernels::MemoryRates memory;
  std::vector<ProductRate> products;

  /// All products once, each at its best rate: operations by the sum of their times.
  double gemm_flops() const;
  MachineLimits limits() const;
};

/// Shapes for machines without a model: squares and a feed-forward layer's.
std::vector<WeightShape> general_shapes();

/// `weights`: those of a model that all tokens of its input pass; not empty. Random data.
Result<MeasuredLimits> measure_limits(std::span<const WeightShape> weights);

}  // namespace qfs::backbones
