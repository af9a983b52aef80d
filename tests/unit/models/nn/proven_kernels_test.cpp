// Kernels that compute what LibTorch does are used, and of those that do not, LibTorch's are.
#include "methods/models/nn/runtime/proven_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/kernel_device.h"

namespace qfs::nn {
namespace {

using kernels::DecodeAttention;
using kernels::DeviceKernels;
using kernels::GatedActivation;
using kernels::RotateStore;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ProvenKernelsTest : public ::testing::Test {
 protected:
  ProvenKernels proven(const DeviceKernels& kernels) const {
    return prove(kernels, device_.place, device_.stream());
  }
  const DeviceKernels& libtorch() const { return libtorch_kernels(device_.place.type()); }

  test::KernelDevice device_ = test::kernel_device();
};

TEST_F(ProvenKernelsTest, kernels_that_agree_with_libtorch_are_used) {
  const ProvenKernels found = proven(*device_.kernels);
  EXPECT_THAT(found.replaced, IsEmpty());
  EXPECT_EQ(found.kernels.rotate_store, device_.kernels->rotate_store);
  EXPECT_EQ(found.kernels.decode_attention, device_.kernels->decode_attention);
  EXPECT_EQ(found.kernels.gated_activation, device_.kernels->gated_activation);
}

// Faults that only some inputs show, each in one kernel of the CPU.
TEST(ProvenKernelsOfTheCpuTest, a_kernel_that_differs_is_replaced_and_no_other) {
  const DeviceKernels& good = kernels::cpu_device_kernels();
  const DeviceKernels& libtorch = libtorch_kernels(at::kCPU);
  const auto proven = [](const DeviceKernels& kernels) {
    return prove(kernels, at::Device(at::kCPU), nullptr);
  };

  DeviceKernels kernels = good;
  kernels.decode_attention = [](const DecodeAttention& task, void* stream) {
    DecodeAttention first = task;  // heads of their own in place of shared ones
    if (task.heads != task.kv_heads) first.scale *= 1.01f;
    return kernels::cpu_device_kernels().decode_attention(first, stream);
  };
  ProvenKernels found = proven(kernels);
  EXPECT_THAT(found.replaced, ElementsAre("decode_attention"));
  EXPECT_EQ(found.kernels.decode_attention, libtorch.decode_attention);
  EXPECT_EQ(found.kernels.rotate_store, good.rotate_store);

  kernels = good;
  kernels.rotate_store = [](const RotateStore& task, void* stream) {
    RotateStore first = task;
    if (task.tokens > 2) first.tokens = 2;  // the last token is forgotten
    return kernels::cpu_device_kernels().rotate_store(first, stream);
  };
  EXPECT_THAT(proven(kernels).replaced, ElementsAre("rotate_store"));

  kernels = good;
  kernels.gated_activation = [](const GatedActivation& task, void* stream) {
    GatedActivation first = task;
    if (task.width % 8 != 0) first.width -= task.width % 8;  // odd ends
    return kernels::cpu_device_kernels().gated_activation(first, stream);
  };
  EXPECT_THAT(proven(kernels).replaced, ElementsAre("gated_activation"));

  kernels = good;
  kernels.gated_activation = [](const GatedActivation&, void*) { return 719; };  // a launch failed
  EXPECT_THAT(proven(kernels).replaced, ElementsAre("gated_activation"));
}

TEST(ProvenKernelsOfTheCpuTest, libtorch_reads_nothing_behind_the_last_position) {
  constexpr int64_t kDim = 4;
  constexpr int64_t kCapacity = 8;
  std::vector<float> cache(2 * kCapacity * kDim, std::nanf(""));
  std::fill_n(cache.begin() + kCapacity * kDim, 2 * kDim, 1.0f);  // row 1, two positions
  const std::vector<float> query(kDim, 0.5f);
  std::vector<float> out(kDim, 7);
  const int32_t row = 1;
  const int32_t position = 1;
  DecodeAttention task;
  task.queries = query.data();
  task.keys = task.values = cache.data();
  task.rows = &row;
  task.positions = &position;
  task.tokens = task.heads = task.kv_heads = task.parts = 1;
  task.cache_rows = 2;
  task.dim = kDim;
  task.capacity = kCapacity;
  task.out = out.data();
  ASSERT_EQ(libtorch_kernels(at::kCPU).decode_attention(task, nullptr), 0);
  EXPECT_THAT(out, ElementsAre(1, 1, 1, 1));
}

}  // namespace
}  // namespace qfs::nn
