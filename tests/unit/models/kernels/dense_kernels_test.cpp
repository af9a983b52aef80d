// Packed products, GELU, layer normalization and softmax compute their formulas; AVX-512 and AVX2
// give equal bits, and a row's bits depend on no other row.
#include "methods/models/kernels/dense_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "harness/core/rng.h"

namespace qfs::kernels {
namespace {

std::vector<float> random_matrix(int64_t count, uint64_t seed, double scale = 1) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(scale * (2 * rng.uniform() - 1));
  return values;
}

class DenseKernelsTest : public ::testing::TestWithParam<const DenseKernels* (*)()> {
 protected:
  void SetUp() override {
    kernels_ = GetParam()();
    if (kernels_ == nullptr) GTEST_SKIP() << "this machine does not have the instruction set";
  }

  /// [rows, outputs] with a bias.
  std::vector<float> product(const std::vector<float>& x, const std::vector<float>& weight,
                             const std::vector<float>& bias, int64_t inputs) {
    const auto outputs = static_cast<int64_t>(bias.size());
    const auto rows = static_cast<int64_t>(x.size()) / inputs;
    std::vector<float> panels(static_cast<size_t>(panel_floats(outputs, inputs)));
    pack_rows(weight.data(), outputs, inputs, inputs, panels.data());
    std::vector<float> y(static_cast<size_t>(rows * outputs));
    kernels_->multiply(
        {panels.data(), bias.data(), x.data(), y.data(), rows, inputs, outputs, inputs, outputs});
    return y;
  }

  const DenseKernels* kernels_ = nullptr;
};

TEST_P(DenseKernelsTest, ProductsOfOddShapesAreSumsOfProducts) {
  for (const int64_t rows : {1, 5, 12, 13, 30}) {
    for (const int64_t outputs : {1, 16, 31, 32, 33, 70}) {
      const int64_t inputs = 37;
      const auto x = random_matrix(rows * inputs, 1);
      const auto weight = random_matrix(outputs * inputs, 2);
      const auto bias = random_matrix(outputs, 3);
      const auto y = product(x, weight, bias, inputs);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t n = 0; n < outputs; ++n) {
          double sum = bias[static_cast<size_t>(n)];
          for (int64_t k = 0; k < inputs; ++k) {
            sum += double{x[static_cast<size_t>(r * inputs + k)]} *
                   weight[static_cast<size_t>(n * inputs + k)];
          }
          ASSERT_NEAR(y[static_cast<size_t>(r * outputs + n)], sum, 1e-5)
              << rows << " x " << outputs << " at " << r << ", " << n;
        }
      }
    }
  }
}

TEST_P(DenseKernelsTest, ProductsAreAddedToWhatIsThere) {
  const int64_t inputs = 37;
  for (const int64_t rows : {1, 12, 13, 30}) {
    for (const int64_t outputs : {1, 16, 31, 32, 70}) {
      const int64_t stride = outputs + 3;
      const auto x = random_matrix(rows * inputs, 1);
      const auto weight = random_matrix(outputs * inputs, 2);
      const auto before = random_matrix(rows * stride, 3);
      std::vector<float> panels(static_cast<size_t>(panel_floats(outputs, inputs)));
      pack_rows(weight.data(), outputs, inputs, inputs, panels.data());
      auto y = before;
      kernels_->multiply({.panels = panels.data(),
                          .x = x.data(),
                          .y = y.data(),
                          .rows = rows,
                          .inputs = inputs,
                          .outputs = outputs,
                          .x_stride = inputs,
                          .y_stride = stride,
                          .add = true});
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t n = 0; n < stride; ++n) {
          const auto at = static_cast<size_t>(r * stride + n);
          double sum = before[at];
          for (int64_t k = 0; n < outputs && k < inputs; ++k) {
            sum += double{x[static_cast<size_t>(r * inputs + k)]} *
                   weight[static_cast<size_t>(n * inputs + k)];
          }
          ASSERT_NEAR(y[at], sum, n < outputs ? 1e-5 : 0) << rows << " x " << outputs;
        }
      }
    }
  }
}

TEST_P(DenseKernelsTest, ARowsBitsDependOnNoOtherRow) {
  const int64_t inputs = 50;
  const auto x = random_matrix(29 * inputs, 4);
  const auto weight = random_matrix(45 * inputs, 5);
  const auto bias = random_matrix(45, 6);
  const auto all = product(x, weight, bias, inputs);
  for (int64_t r = 0; r < 29; ++r) {
    const std::vector<float> row(x.begin() + r * inputs, x.begin() + (r + 1) * inputs);
    const auto alone = product(row, weight, bias, inputs);
    ASSERT_TRUE(std::equal(alone.begin(), alone.end(), all.begin() + r * 45)) << r;
  }
}

TEST_P(DenseKernelsTest, PackedColumnsAreTheTransposedWeight) {
  const int64_t inputs = 9;
  const int64_t outputs = 40;
  const auto weight = random_matrix(outputs * inputs, 7);
  std::vector<float> transposed(weight.size());
  for (int64_t n = 0; n < outputs; ++n) {
    for (int64_t k = 0; k < inputs; ++k) {
      transposed[static_cast<size_t>(k * outputs + n)] =
          weight[static_cast<size_t>(n * inputs + k)];
    }
  }
  std::vector<float> rows(static_cast<size_t>(panel_floats(outputs, inputs)), 5);
  std::vector<float> columns(rows.size(), 6);
  pack_rows(weight.data(), outputs, inputs, inputs, rows.data());
  pack_columns(transposed.data(), outputs, inputs, outputs, columns.data());
  EXPECT_EQ(rows, columns);
}

TEST_P(DenseKernelsTest, ActivationsAreTheirFormulas) {
  std::vector<float> erf_values;
  for (int i = -1000; i <= 1000; ++i) erf_values.push_back(static_cast<float>(i) / 100.0F);
  std::vector<float> tanh_values = erf_values;
  const std::vector<float> x = erf_values;
  kernels_->gelu(erf_values.data(), static_cast<int64_t>(x.size()));
  kernels_->gelu_tanh(tanh_values.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const double v = x[i];
    EXPECT_NEAR(erf_values[i], 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))), 1e-6) << v;
    EXPECT_NEAR(tanh_values[i],
                0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))), 1e-6)
        << v;
  }
}

TEST_P(DenseKernelsTest, NormalizedRowsHaveMeanZeroAndVarianceOne) {
  const int64_t width = 37;
  auto rows = random_matrix(3 * width, 8, 5);
  const std::vector<float> one(static_cast<size_t>(width), 2);
  const std::vector<float> bias(static_cast<size_t>(width), 1);
  kernels_->layer_norm(rows.data(), 3, width, one.data(), bias.data(), 1e-12F);
  for (int64_t r = 0; r < 3; ++r) {
    double sum = 0;
    double squares = 0;
    for (int64_t i = 0; i < width; ++i) {
      const double value = (rows[static_cast<size_t>(r * width + i)] - 1.0) / 2;
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum, 0, 1e-4);
    EXPECT_NEAR(squares / static_cast<double>(width), 1, 1e-5);
  }
}

TEST_P(DenseKernelsTest, SoftmaxIgnoresWhatStandsBehindARow) {
  for (const int64_t width : {1, 16, 37}) {
    const int64_t stride = (width + 31) / 32 * 32 + 64;
    auto rows = random_matrix(2 * stride, 9, 20);
    const auto before = rows;
    kernels_->softmax(rows.data(), 2, width, stride, 0.5F);
    for (int64_t r = 0; r < 2; ++r) {
      double sum = 0;
      for (int64_t i = 0; i < width; ++i) {
        sum += std::exp(0.5 * before[static_cast<size_t>(r * stride + i)]);
      }
      for (int64_t i = 0; i < width; ++i) {
        const auto at = static_cast<size_t>(r * stride + i);
        EXPECT_NEAR(rows[at], std::exp(0.5 * before[at]) / sum, 1e-6) << width;
      }
      for (int64_t i = width; i < stride; ++i) {
        EXPECT_EQ(rows[static_cast<size_t>(r * stride + i)], 0) << width;
      }
    }
  }
}

TEST_P(DenseKernelsTest, GradientsOfSoftmaxAreItsDerivative) {
  constexpr float kScale = 0.3F;
  constexpr double kStep = 1e-4;
  for (const int64_t width : {1, 16, 37}) {
    const auto size = static_cast<size_t>(width);
    const auto x = random_matrix(2 * width, 12, 4);
    const auto above = random_matrix(2 * width, 13);
    auto results = x;
    kernels_->softmax(results.data(), 2, width, width, kScale);
    auto gradients = above;
    kernels_->softmax_gradient(results.data(), gradients.data(), 2, width, kScale);
    for (size_t at = 0; at < x.size(); ++at) {
      const size_t row = at / size * size;
      const auto weighted = [&](double moved) {
        double sum = 0;
        double total = 0;
        for (size_t i = row; i < row + size; ++i) {
          const double share = std::exp(kScale * (x[i] + (i == at ? moved : 0)));
          sum += share;
          total += share * above[i];
        }
        return total / sum;
      };
      const double slope = (weighted(kStep) - weighted(-kStep)) / (2 * kStep);
      EXPECT_NEAR(gradients[at], slope, 1e-6) << width << " at " << at;
    }
  }
}

TEST(DenseKernels, Avx512AndAvx2GiveEqualBits) {
  const DenseKernels* const wide = avx512_dense_kernels();
  const DenseKernels* const narrow = avx2_dense_kernels();
  if (wide == nullptr || narrow == nullptr) GTEST_SKIP() << "this machine has no AVX-512";
  const auto panels = random_matrix(panel_floats(70, 53), 10);
  const auto x = random_matrix(31 * 53, 11);
  std::vector<float> results[2];
  for (const DenseKernels* kernels : {wide, narrow}) {
    std::vector<float>& y = results[kernels == narrow];
    y.resize(31 * 70);
    kernels->multiply({panels.data(), nullptr, x.data(), y.data(), 31, 53, 70, 53, 70});
    kernels->gelu(y.data(), static_cast<int64_t>(y.size()) / 2);
    kernels->gelu_tanh(y.data() + y.size() / 2, static_cast<int64_t>(y.size()) / 2);
    kernels->layer_norm(y.data(), 31, 70, x.data(), x.data() + 70, 1e-5F);
    kernels->softmax(y.data(), 31, 60, 70, 0.3F);
    kernels->softmax_gradient(x.data(), y.data(), 30, 50, 0.3F);
  }
  EXPECT_EQ(results[0], results[1]);
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, DenseKernelsTest,
                         ::testing::Values(&portable_dense_kernels, &avx2_dense_kernels,
                                           &avx512_dense_kernels));

}  // namespace
}  // namespace qfs::kernels
