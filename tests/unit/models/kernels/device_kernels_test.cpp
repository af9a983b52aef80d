// Kernels of every device compute their formulas: the CPU twin always, CUDA where a machine has it
// (label gpu). Expected values come from double-precision loops here; outputs are poisoned first.
#include "methods/models/kernels/device_kernels.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/kernel_device.h"

namespace qfs::kernels {
namespace {

struct Case {
  at::ScalarType scalar;
  ElementType type;
  double tolerance;  ///< largest difference over largest value
};

constexpr Case kCases[] = {{at::kFloat, ElementType::f32, 1e-5},
                           {at::kBFloat16, ElementType::bf16, 1e-2},
                           {at::kHalf, ElementType::f16, 2e-3}};

class DeviceKernelsTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    at::set_num_threads(1);
    at::manual_seed(7);
  }
  at::Tensor random(at::IntArrayRef shape) const {
    return at::randn(shape).to(GetParam().scalar).to(device_.place);
  }
  at::Tensor poisoned(at::IntArrayRef shape) const {
    return at::full(shape, std::numeric_limits<double>::quiet_NaN())
        .to(GetParam().scalar)
        .to(device_.place);
  }
  at::Tensor integers(const std::vector<int32_t>& values) const {
    return at::tensor(values, at::kInt).to(device_.place);
  }
  static at::Tensor exact(const at::Tensor& tensor) { return tensor.to(at::kCPU, at::kDouble); }
  static void expect_near(const at::Tensor& actual, const at::Tensor& expected) {
    const double largest = expected.abs().max().item<double>();
    const double difference = (exact(actual) - expected).abs().max().item<double>();
    EXPECT_LE(difference, GetParam().tolerance * largest);  // false for NaN
  }
  test::KernelDevice device_ = test::kernel_device();
};

TEST_P(DeviceKernelsTest, rotate_store_rotates_and_puts_each_token_at_its_place) {
  constexpr int64_t kHeads = 6;
  constexpr int64_t kKvHeads = 2;
  constexpr int64_t kDim = 10;
  constexpr int64_t kCapacity = 13;
  const std::vector<int32_t> rows = {2, 0, 2};
  const std::vector<int32_t> positions = {0, 12, 5};
  const at::Tensor qkv = random({3, kHeads + 2 * kKvHeads, kDim});
  const at::Tensor angles = at::randn({kCapacity, kDim / 2});
  const at::Tensor cosines = angles.cos().to(device_.place);
  const at::Tensor sines = angles.sin().to(device_.place);
  const at::Tensor row_list = integers(rows);
  const at::Tensor position_list = integers(positions);
  at::Tensor queries = poisoned({3, kHeads, kDim});
  at::Tensor keys = random({3, kKvHeads, kCapacity, kDim});
  at::Tensor values = random({3, kKvHeads, kCapacity, kDim});
  at::Tensor expected_keys = exact(keys).clone();
  at::Tensor expected_values = exact(values).clone();

  RotateStore task;
  task.type = GetParam().type;
  task.qkv = qkv.const_data_ptr();
  task.cosines = cosines.const_data_ptr<float>();
  task.sines = sines.const_data_ptr<float>();
  task.rows = row_list.const_data_ptr<int32_t>();
  task.positions = position_list.const_data_ptr<int32_t>();
  task.tokens = 3;
  task.heads = kHeads;
  task.kv_heads = kKvHeads;
  task.dim = kDim;
  task.capacity = kCapacity;
  task.queries = queries.mutable_data_ptr();
  task.keys = keys.mutable_data_ptr();
  task.cache_rows = keys.size(0);
  task.values = values.mutable_data_ptr();
  ASSERT_EQ(device_.kernels->rotate_store(task, device_.stream()), 0);

  const auto rotated = [&](const at::Tensor& head, int64_t position) {
    const at::Tensor angle = angles.to(at::kDouble)[position];
    const at::Tensor a = head.narrow(0, 0, kDim / 2);
    const at::Tensor b = head.narrow(0, kDim / 2, kDim / 2);
    return at::cat({a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()});
  };
  const at::Tensor in = exact(qkv);
  at::Tensor expected_queries = at::empty({3, kHeads, kDim}, at::kDouble);
  for (int64_t t = 0; t < 3; ++t) {
    const int64_t position = positions[static_cast<size_t>(t)];
    const int64_t row = rows[static_cast<size_t>(t)];
    for (int64_t h = 0; h < kHeads; ++h) expected_queries[t][h] = rotated(in[t][h], position);
    for (int64_t h = 0; h < kKvHeads; ++h) {
      expected_keys[row][h][position] = rotated(in[t][kHeads + h], position);
      expected_values[row][h][position] = in[t][kHeads + kKvHeads + h];
    }
  }
  expect_near(queries, expected_queries);
  expect_near(keys, expected_keys);
  EXPECT_TRUE(at::equal(exact(values), expected_values));  // copied, not computed
}

TEST_P(DeviceKernelsTest, rotate_store_without_angles_copies) {
  constexpr int64_t kHeads = 3;
  constexpr int64_t kDim = 7;
  constexpr int64_t kCapacity = 5;
  const at::Tensor qkv = random({2, 3 * kHeads, kDim});
  const at::Tensor row_list = integers({1, 0});
  const at::Tensor position_list = integers({4, 2});
  at::Tensor queries = poisoned({2, kHeads, kDim});
  at::Tensor keys = random({2, kHeads, kCapacity, kDim});
  at::Tensor values = random({2, kHeads, kCapacity, kDim});
  at::Tensor expected_keys = exact(keys).clone();
  at::Tensor expected_values = exact(values).clone();
  RotateStore task;
  task.type = GetParam().type;
  task.qkv = qkv.const_data_ptr();
  task.rows = row_list.const_data_ptr<int32_t>();
  task.positions = position_list.const_data_ptr<int32_t>();
  task.tokens = 2;
  task.heads = task.kv_heads = kHeads;
  task.dim = kDim;
  task.capacity = kCapacity;
  task.queries = queries.mutable_data_ptr();
  task.keys = keys.mutable_data_ptr();
  task.cache_rows = keys.size(0);
  task.values = values.mutable_data_ptr();
  ASSERT_EQ(device_.kernels->rotate_store(task, device_.stream()), 0);

  const at::Tensor in = exact(qkv);
  for (const auto& [token, row, position] : {std::array{0, 1, 4}, std::array{1, 0, 2}}) {
    expected_keys[row].select(1, position).copy_(in[token].narrow(0, kHeads, kHeads));
    expected_values[row].select(1, position).copy_(in[token].narrow(0, 2 * kHeads, kHeads));
  }
  EXPECT_TRUE(at::equal(exact(queries), in.narrow(1, 0, kHeads)));
  EXPECT_TRUE(at::equal(exact(keys), expected_keys));
  EXPECT_TRUE(at::equal(exact(values), expected_values));
}

struct Attention {
  int64_t heads;
  int64_t kv_heads;
  int64_t dim;
};

TEST_P(DeviceKernelsTest, decode_attention_is_softmax_of_the_row_that_a_token_names) {
  // Lengths below, at and above one part; groups above the number of sums in registers.
  const std::vector<int32_t> rows = {1, 3, 0, 4};
  const std::vector<int32_t> positions = {0, 255, 256, 700};
  constexpr int64_t kCapacity = 701;
  for (const auto& [heads, kv_heads, dim] :
       {Attention{4, 2, 16}, Attention{9, 3, 64}, Attention{12, 1, 80}, Attention{3, 3, 256}}) {
    const at::Tensor queries = random({4, heads, dim});
    const at::Tensor keys = random({5, kv_heads, kCapacity, dim});
    const at::Tensor values = random({5, kv_heads, kCapacity, dim});
    const at::Tensor row_list = integers(rows);
    const at::Tensor position_list = integers(positions);
    at::Tensor out = poisoned({4, heads, dim});
    DecodeAttention task;
    task.type = GetParam().type;
    task.queries = queries.const_data_ptr();
    task.keys = keys.const_data_ptr();
    task.cache_rows = keys.size(0);
    task.values = values.const_data_ptr();
    task.rows = row_list.const_data_ptr<int32_t>();
    task.positions = position_list.const_data_ptr<int32_t>();
    task.tokens = 4;
    task.heads = heads;
    task.kv_heads = kv_heads;
    task.dim = dim;
    task.capacity = kCapacity;
    task.parts = (kCapacity + kDecodePart - 1) / kDecodePart;
    task.scale = 1.0f / std::sqrt(static_cast<float>(dim));
    at::Tensor workspace =
        at::full({decode_workspace(4, heads, task.parts, dim)}, NAN).to(device_.place);
    task.workspace = workspace.mutable_data_ptr<float>();
    task.out = out.mutable_data_ptr();
    ASSERT_EQ(device_.kernels->decode_attention(task, device_.stream()), 0);

    at::Tensor expected = at::empty({4, heads, dim}, at::kDouble);
    for (int64_t t = 0; t < 4; ++t) {
      const int64_t length = positions[static_cast<size_t>(t)] + 1;
      for (int64_t h = 0; h < heads; ++h) {
        const auto past = [&](const at::Tensor& cache) {
          return exact(cache)[rows[static_cast<size_t>(t)]][h / (heads / kv_heads)].narrow(0, 0,
                                                                                           length);
        };
        const at::Tensor scores = past(keys).mv(exact(queries)[t][h]) * double{task.scale};
        expected[t][h] = past(values).t().mv(at::softmax(scores, 0));
      }
    }
    SCOPED_TRACE(heads);
    expect_near(out, expected);
  }
}

TEST_P(DeviceKernelsTest, gated_activation_is_silu_of_the_gate_times_up) {
  for (const int64_t width : {1, 33, 1000}) {
    const at::Tensor gate_up = random({3, 2 * width}) * 4;
    at::Tensor out = poisoned({3, width});
    GatedActivation task;
    task.type = GetParam().type;
    task.gate_up = gate_up.const_data_ptr();
    task.tokens = 3;
    task.width = width;
    task.out = out.mutable_data_ptr();
    ASSERT_EQ(device_.kernels->gated_activation(task, device_.stream()), 0);
    const at::Tensor gate = exact(gate_up).narrow(1, 0, width);
    expect_near(out, gate * at::sigmoid(gate) * exact(gate_up).narrow(1, width, width));
  }
}

TEST_P(DeviceKernelsTest, no_tokens_are_no_work) {
  const DeviceKernels& kernels = *device_.kernels;
  RotateStore rotate;
  rotate.type = GetParam().type;
  rotate.kv_heads = 1;
  DecodeAttention attention;
  attention.type = GetParam().type;
  attention.kv_heads = 1;
  GatedActivation activation;
  activation.type = GetParam().type;
  EXPECT_EQ(kernels.rotate_store(rotate, device_.stream()), 0);
  EXPECT_EQ(kernels.decode_attention(attention, device_.stream()), 0);
  EXPECT_EQ(kernels.gated_activation(activation, device_.stream()), 0);
}

INSTANTIATE_TEST_SUITE_P(Types, DeviceKernelsTest, ::testing::ValuesIn(kCases),
                         [](const auto& test) {
                           return std::string(at::toString(test.param.scalar));
                         });

}  // namespace
}  // namespace qfs::kernels
