// Measured limits: positive, finite, and in order; the rates themselves are the machine's matter.
#include "methods/models/inspect/machine_limits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/core/clock.h"
#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::inspect {
namespace {

void expect_rate(const kernels::ObservedRate& rate) {
  EXPECT_TRUE(std::isfinite(rate.best));
  EXPECT_GE(rate.best, rate.median);
  EXPECT_GE(rate.median, rate.worst);
  EXPECT_GT(rate.worst, 0);
  EXPECT_GE(rate.passes, 1);
}

TEST(MachineLimits, ArePositiveAndFinite) {
  ASSERT_TRUE(nn::configure_torch({}).ok());
  const std::vector<nn::WeightShape> weights = {{96, 32, 2}, {33, 7, 1}};
  const auto measured = measure_limits(weights, {});
  ASSERT_TRUE(measured.ok()) << measured.error().to_string();
  EXPECT_EQ(measured->threads, 1);
  expect_rate(measured->memory.read);
  expect_rate(measured->memory.copy);
  ASSERT_EQ(measured->products.size(), 2U);
  for (const ProductRate& product : measured->products) {
    expect_rate(product.libtorch);
    ASSERT_TRUE(product.panels);
    expect_rate(*product.panels);
    EXPECT_EQ(product.probed_outputs, product.weight.outputs);
  }
  const MachineLimits limits = measured->limits();
  EXPECT_GT(limits.read_bytes, 0);
  EXPECT_GT(limits.copy_bytes, 0);
  EXPECT_GT(limits.gemm_flops, 0);
}

TEST(MachineLimits, ProductsAreMeasuredInTheTypeThatTheProcessorMultiplies) {
  ASSERT_TRUE(nn::configure_torch({.dtype = "bfloat16"}).ok());
  const std::vector<nn::WeightShape> weights = {{96, 32, 2}};
  const auto measured = measure_limits(weights, {.dtype = "bfloat16"});
  ASSERT_TRUE(measured.ok()) << measured.error().to_string();
  const bool own = kernels::has_bfloat16_products();
  EXPECT_EQ(measured->type, own ? at::kBFloat16 : at::kFloat);
  EXPECT_NE(measured->products.front().panels.has_value(), own);
  expect_rate(measured->products.front().libtorch);
}

TEST(MachineLimits, OfADeviceCountEveryProductAndByteOfAPass) {
  const std::vector<nn::WeightShape> weights = {{96, 32, 2}, {33, 7, 1}};
  const ProbeSize size = {.rows = 64, .most_elements = 7 * 16, .products = 3, .buffer_bytes = 4096};
  const int64_t begin_ns = monotonic_ns();
  const auto measured = measure_device(weights, at::kCPU, at::kFloat, size);
  const auto seconds = static_cast<double>(monotonic_ns() - begin_ns) * 1e-9;
  ASSERT_TRUE(measured.ok()) << measured.error().to_string();
  EXPECT_EQ(measured->rows, 64);
  EXPECT_EQ(measured->memory.buffer_bytes, 4096);
  const kernels::ObservedRate& copy = measured->memory.copy;
  expect_rate(copy);
  expect_rate(measured->memory.read);
  EXPECT_GE(measured->memory.read.best, copy.best);
  // All passes together took no longer than the call.
  const auto passes = static_cast<double>(copy.passes);
  EXPECT_LE(4096 * passes / seconds, copy.best);
  const std::vector<int64_t> probed = {3, 16};
  for (size_t i = 0; i < 2; ++i) {
    const ProductRate& product = measured->products[i];
    EXPECT_FALSE(product.panels);
    EXPECT_EQ(product.probed_outputs, probed[i]);
    expect_rate(product.libtorch);
    const auto flops = static_cast<double>(2 * 3 * 64 * probed[i] * product.weight.inputs);
    EXPECT_LE(flops * static_cast<double>(product.libtorch.passes) / seconds,
              product.libtorch.best);
  }
}

TEST(MachineLimits, WeighTheRateOfProductsByTheTimeThatTheyTake) {
  MeasuredLimits measured;
  measured.products.resize(2);
  measured.products[0].weight = {10, 10, 3};  // 300 elements at 100 a second
  measured.products[0].libtorch.best = 100;
  measured.products[1].weight = {10, 10, 1};  // 100 elements at 25
  measured.products[1].panels = kernels::ObservedRate{.best = 25};
  EXPECT_DOUBLE_EQ(measured.gemm_flops(), 400.0 / (3 + 4));
}

TEST(LeastSeconds, AreThoseOfComputingOrReadingWhicheverIsLonger) {
  const MachineLimits limits = {.read_bytes = 10, .copy_bytes = 1, .gemm_flops = 100};
  EXPECT_DOUBLE_EQ(least_seconds({.flops = 200, .bytes = 10}, limits), 2);
  EXPECT_DOUBLE_EQ(least_seconds({.flops = 200, .bytes = 40}, limits), 4);
}

}  // namespace
}  // namespace qfs::inspect
