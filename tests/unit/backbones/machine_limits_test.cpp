// Measured limits: positive, finite, and in order; the rates themselves are the machine's matter.
#include "methods/backbones/machine_limits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "methods/backbones/torch_runtime.h"

namespace qfs::backbones {
namespace {

void expect_rate(const kernels::ObservedRate& rate) {
  EXPECT_TRUE(std::isfinite(rate.best));
  EXPECT_GE(rate.best, rate.median);
  EXPECT_GE(rate.median, rate.worst);
  EXPECT_GT(rate.worst, 0);
  EXPECT_GE(rate.passes, 1);
}

TEST(MachineLimits, ArePositiveAndFinite) {
  ASSERT_TRUE(configure_torch({}).ok());
  const std::vector<WeightShape> weights = {{96, 32, 2}, {33, 7, 1}};
  const auto measured = measure_limits(weights);
  ASSERT_TRUE(measured.ok()) << measured.error().to_string();
  EXPECT_EQ(measured->threads, 1);
  expect_rate(measured->memory.read);
  expect_rate(measured->memory.copy);
  ASSERT_EQ(measured->products.size(), 2U);
  for (const ProductRate& product : measured->products) {
    expect_rate(product.libtorch);
    expect_rate(product.panels);
    EXPECT_EQ(product.probed_outputs, product.weight.outputs);
  }
  const MachineLimits limits = measured->limits();
  EXPECT_GT(limits.read_bytes, 0);
  EXPECT_GT(limits.copy_bytes, 0);
  EXPECT_GT(limits.gemm_flops, 0);
}

TEST(MachineLimits, WeighTheRateOfProductsByTheTimeThatTheyTake) {
  MeasuredLimits measured;
  measured.products.resize(2);
  measured.products[0].weight = {10, 10, 3};  // 300 elements at 100 a second
  measured.products[0].libtorch.best = 100;
  measured.products[1].weight = {10, 10, 1};  // 100 elements at 25
  measured.products[1].panels.best = 25;
  EXPECT_DOUBLE_EQ(measured.gemm_flops(), 400.0 / (3 + 4));
}

TEST(LeastSeconds, AreThoseOfComputingOrReadingWhicheverIsLonger) {
  const MachineLimits limits = {.read_bytes = 10, .copy_bytes = 1, .gemm_flops = 100};
  EXPECT_DOUBLE_EQ(least_seconds({.flops = 200, .bytes = 10}, limits), 2);
  EXPECT_DOUBLE_EQ(least_seconds({.flops = 200, .bytes = 40}, limits), 4);
}

}  // namespace
}  // namespace qfs::backbones
