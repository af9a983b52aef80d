// Kernels compute their formulas, and equal bits whatever the batch or the split of rows.
#include "methods/models/kernels/cpu_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "harness/core/rng.h"

namespace qfs::kernels {
namespace {

MatVec product(const float* weight, const float* x, float* y, int64_t inner, int64_t batch) {
  MatVec task;
  task.weight = reinterpret_cast<const std::byte*>(weight);
  task.row_bytes = inner * static_cast<int64_t>(sizeof(float));
  task.x = x;
  task.y = y;
  task.inner = inner;
  task.batch = batch;
  return task;
}

std::vector<float> random_floats(size_t count, uint64_t seed, double scale = 1) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(scale * (2 * rng.uniform() - 1));
  return values;
}

struct InstructionSet {
  const char* name;
  const CpuKernels& (*kernels)();
  bool (*here)();
};

class CpuKernelsTest : public ::testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override {
    if (!GetParam().here()) GTEST_SKIP() << "this machine has no " << GetParam().name;
    kernels_ = &GetParam().kernels();
  }
  const CpuKernels* kernels_ = nullptr;
};

TEST_P(CpuKernelsTest, matvec_equals_the_sum_for_odd_sizes_and_every_batch) {
  constexpr int64_t kRows = 37;
  constexpr int64_t kInner = 61;
  const auto weight = random_floats(kRows * kInner, 1);
  for (int64_t batch = 1; batch <= 9; ++batch) {
    const auto x = random_floats(static_cast<size_t>(batch * kInner), 2);
    std::vector<float> y(static_cast<size_t>(batch * kRows), 0.5f);
    MatVec task = product(weight.data(), x.data(), y.data(), kInner, batch);
    task.y_stride = kRows;
    task.accumulate = true;
    kernels_->matvec(task, 0, kRows);
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t n = 0; n < kRows; ++n) {
        double sum = 0.5;
        for (int64_t k = 0; k < kInner; ++k) {
          sum += static_cast<double>(weight[static_cast<size_t>(n * kInner + k)]) *
                 static_cast<double>(x[static_cast<size_t>(b * kInner + k)]);
        }
        ASSERT_NEAR(y[static_cast<size_t>(b * kRows + n)], sum, 1e-5);
      }
    }
  }
}

TEST_P(CpuKernelsTest, matvec_gives_equal_bits_in_every_batch_and_split) {
  constexpr int64_t kRows = 29;
  constexpr int64_t kInner = 112;
  const auto weight = random_floats(kRows * kInner, 3);
  const auto x = random_floats(8 * kInner, 4);
  std::vector<float> together(8 * kRows);
  MatVec task = product(weight.data(), x.data(), together.data(), kInner, 8);
  task.y_stride = kRows;
  kernels_->matvec(task, 0, kRows);
  for (int64_t b = 0; b < 8; ++b) {
    std::vector<float> alone(kRows);
    MatVec one = product(weight.data(), x.data() + b * kInner, alone.data(), kInner, 1);
    one.y_stride = kRows;
    kernels_->matvec(one, 0, 11);
    kernels_->matvec(one, 11, kRows);
    for (int64_t n = 0; n < kRows; ++n) {
      ASSERT_EQ(alone[static_cast<size_t>(n)], together[static_cast<size_t>(b * kRows + n)]);
    }
  }
}

class PackedTest : public CpuKernelsTest {
 protected:
  static constexpr checkpoints::TensorType kTypes[] = {
      checkpoints::TensorType::q4_1, checkpoints::TensorType::q8_0, checkpoints::TensorType::bf16,
      checkpoints::TensorType::f16};

  /// Random values of moderate size; of block types, random blocks with finite scales: every
  /// half-precision exponent but the largest.
  static std::vector<std::byte> blocks(checkpoints::TensorType type, int64_t elements) {
    const auto info = *checkpoints::tensor_type_info(type);
    Rng rng(11);
    std::vector<std::byte> bytes;
    if (info.block_elements == 1) {
      for (int64_t i = 0; i < elements; ++i) {
        bytes.push_back(std::byte(rng.below(256)));
        bytes.push_back(std::byte(rng.below(2) * 128 + 0x38 + rng.below(6)));
      }
      return bytes;
    }
    for (int64_t b = 0; b < elements / info.block_elements; ++b) {
      for (int64_t i = 0; i < info.block_bytes; ++i) bytes.push_back(std::byte(rng.below(256)));
      for (const size_t half : {info.block_bytes - 1, info.block_bytes - 3}) {
        bytes[bytes.size() - half] = std::byte(rng.below(2) * 128 + rng.below(0x5C));
      }
    }
    return bytes;
  }

  /// A product with the weight as it is and with its expansion.
  void expect_bits_of_expanded(checkpoints::TensorType type, int64_t inner) const;
};

void PackedTest::expect_bits_of_expanded(checkpoints::TensorType type, int64_t inner) const {
  constexpr int64_t kRows = 21;
  const auto packed = blocks(type, kRows * inner);
  std::vector<float> expanded(static_cast<size_t>(kRows * inner));
  checkpoints::dequantize(type, packed.data(), kRows * inner, expanded.data());
  const auto x = random_floats(static_cast<size_t>(3 * inner), 9);
  for (const int64_t batch : {1, 3}) {
    std::vector<float> expected(3 * kRows, 0.25f);
    std::vector<float> y = expected;
    MatVec task = product(expanded.data(), x.data(), expected.data(), inner, batch);
    task.y_stride = kRows;
    task.accumulate = true;
    kernels_->matvec(task, 0, kRows);
    task.type = type;
    task.weight = packed.data();
    task.row_bytes = static_cast<int64_t>(packed.size()) / kRows;
    task.y = y.data();
    kernels_->matvec(task, 0, 5);
    kernels_->matvec(task, 5, kRows);
    EXPECT_EQ(y, expected) << inner << " inputs, batch " << batch;
  }
}

TEST_P(PackedTest, expansion_equals_the_reader_bit_for_bit) {
  for (const auto type : kTypes) {
    const auto packed = blocks(type, 640);
    const int64_t odd = checkpoints::tensor_type_info(type)->block_elements == 1 ? 637 : 640;
    std::vector<float> expected(640);
    std::vector<float> expanded(640);
    checkpoints::dequantize(type, packed.data(), odd, expected.data());
    kernels_->expand(type, packed.data(), odd, expanded.data());
    EXPECT_EQ(expanded, expected);
  }
}

TEST_P(PackedTest, a_packed_weight_gives_the_bits_of_the_expanded_one) {
  for (const auto type : kTypes) {
    const bool blocks_of_one = checkpoints::tensor_type_info(type)->block_elements == 1;
    for (const int64_t inner : {blocks_of_one ? 93 : 32, 96}) expect_bits_of_expanded(type, inner);
  }
}

TEST(Avx512KernelsTest, matvec_with_avx512_gives_the_bits_of_avx2) {
  if (!has_avx512()) GTEST_SKIP() << "this machine has no AVX-512";
  constexpr int64_t kRows = 19;
  for (const int64_t inner : {16, 576, 584, 589}) {
    const auto weight = random_floats(static_cast<size_t>(kRows * inner), 5);
    const auto x = random_floats(static_cast<size_t>(inner), 6);
    for (const bool accumulate : {false, true}) {
      std::vector<float> narrow(kRows, 0.5f);
      std::vector<float> wide(kRows, 0.5f);
      MatVec task = product(weight.data(), x.data(), narrow.data(), inner, 1);
      task.accumulate = accumulate;
      avx2_kernels().matvec(task, 0, kRows);
      task.y = wide.data();
      avx512_kernels().matvec(task, 0, 6);
      avx512_kernels().matvec(task, 6, kRows);
      ASSERT_EQ(wide, narrow) << inner;
    }
  }
}

TEST_P(CpuKernelsTest, silu_multiply_is_accurate_over_the_whole_range) {
  std::vector<float> gate;
  for (float x = -100; x < 100; x += 0.37f) gate.push_back(x);
  const std::vector<float> up(gate.size(), 1.5f);
  std::vector<float> out(gate.size());
  kernels_->silu_multiply(gate.data(), up.data(), static_cast<int64_t>(gate.size()), out.data());
  for (size_t i = 0; i < gate.size(); ++i) {
    const double x = gate[i];
    const double expected = 1.5 * x / (1 + std::exp(-x));
    ASSERT_NEAR(out[i], expected, 1e-6 * std::abs(expected) + 1e-30) << x;
  }
}

TEST_P(CpuKernelsTest, silu_gradient_is_that_of_silu_multiply) {
  std::vector<float> gate;
  for (float x = -80; x < 80; x += 0.37f) gate.push_back(x);
  const auto count = static_cast<int64_t>(gate.size());
  const std::vector<float> up(gate.size(), 1.5f);
  const std::vector<float> above(gate.size(), -2.0f);
  std::vector<float> of_gate(gate.size());
  std::vector<float> of_up(gate.size());
  kernels_->silu_gradient(gate.data(), up.data(), above.data(), count, of_gate.data(),
                          of_up.data());
  for (size_t i = 0; i < gate.size(); ++i) {
    const double x = gate[i];
    const double share = 1 / (1 + std::exp(-x));
    ASSERT_NEAR(of_up[i], -2 * x * share, 2e-6 * std::abs(x * share) + 1e-30) << x;
    ASSERT_NEAR(of_gate[i], -3 * share * (1 + x * (1 - share)),
                2e-6 * share * (1 + std::abs(x)) + 1e-30)
        << x;
  }
}

TEST_P(CpuKernelsTest, rms_norm_divides_by_the_root_of_the_mean_square) {
  const std::vector<float> x = {3, 4, 0};
  const std::vector<float> weight = {1, 2, 3};
  std::vector<float> out(3);
  kernels_->rms_norm(x.data(), weight.data(), 3, 0.5f, out.data());
  const double root = std::sqrt(25.0 / 3 + 0.5);
  EXPECT_NEAR(out[0], 3 / root, 1e-6);
  EXPECT_NEAR(out[1], 8 / root, 1e-6);
  EXPECT_EQ(out[2], 0);
}

TEST_P(CpuKernelsTest, rotate_turns_each_pair_by_its_angle) {
  const std::vector<float> x = {1, 2, 10, 20};  // pairs (1, 10) and (2, 20)
  const std::vector<float> cosines = {0, 1};
  const std::vector<float> sines = {1, 0};
  std::vector<float> out(4);
  kernels_->rotate(x.data(), cosines.data(), sines.data(), 4, out.data());
  EXPECT_EQ(out, (std::vector<float>{-10, 2, 1, 20}));
}

TEST_P(CpuKernelsTest, attend_weighs_values_by_the_softmax_of_scaled_scores) {
  constexpr int64_t kDim = 12;
  constexpr int64_t kPositions = 21;
  const auto queries = random_floats(2 * kDim, 5, 3);
  const auto keys = random_floats(kPositions * kDim, 6, 3);
  const auto values = random_floats(kPositions * kDim, 7);
  std::vector<float> scores(kPositions);
  std::vector<float> maximum(2);
  std::vector<float> sum(2);
  std::vector<float> out(2 * kDim);
  AttentionPart part;
  part.queries = queries.data();
  part.keys = keys.data();
  part.values = values.data();
  part.heads = 2;
  part.dim = kDim;
  part.begin = 4;
  part.end = kPositions;
  part.scale = 0.3f;
  part.scores = scores.data();
  part.maximum = maximum.data();
  part.sum = sum.data();
  part.out = out.data();
  kernels_->attend(part);
  for (size_t head = 0; head < 2; ++head) {
    double total = 0;
    std::vector<double> expected(kDim, 0.0);
    for (size_t p = 4; p < kPositions; ++p) {
      double score = 0;
      for (size_t i = 0; i < kDim; ++i) {
        score += 0.3 * static_cast<double>(queries[head * kDim + i]) *
                 static_cast<double>(keys[p * kDim + i]);
      }
      total += std::exp(score);
      for (size_t i = 0; i < kDim; ++i) {
        expected[i] += std::exp(score) * static_cast<double>(values[p * kDim + i]);
      }
    }
    for (size_t i = 0; i < kDim; ++i) {
      ASSERT_NEAR(out[head * kDim + i] / sum[head], expected[i] / total, 1e-5);
    }
  }
}

std::string set_name(const ::testing::TestParamInfo<InstructionSet>& info) {
  return info.param.name;
}
const auto kSets =
    ::testing::Values(InstructionSet{"portable", portable_kernels, [] { return true; }},
                      InstructionSet{"avx2", avx2_kernels, has_avx2},
                      InstructionSet{"avx512", avx512_kernels, has_avx512});
INSTANTIATE_TEST_SUITE_P(InstructionSets, CpuKernelsTest, kSets, set_name);
INSTANTIATE_TEST_SUITE_P(InstructionSets, PackedTest, kSets, set_name);

}  // namespace
}  // namespace qfs::kernels
