#include "methods/models/nn/runtime/tensor_arena.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(TensorArenaTest, takes_the_lowest_place_that_fits) {
  TensorArena arena(64 * kMiB);
  void* const first = arena.take(4 * kMiB);
  void* const second = arena.take(2 * kMiB);
  void* const third = arena.take(1 * kMiB);
  EXPECT_EQ(static_cast<std::byte*>(second) - static_cast<std::byte*>(first), 4 * kMiB);
  arena.give(first);
  EXPECT_EQ(arena.take(3 * kMiB), first);
  arena.give(second);
  // The gap of the first and that of the second are one.
  void* const joined = arena.take(3 * kMiB);
  EXPECT_EQ(static_cast<std::byte*>(joined) - static_cast<std::byte*>(first), 3 * kMiB);
  EXPECT_EQ(arena.taken_bytes(), 7 * kMiB);
  EXPECT_EQ(arena.high_water_bytes(), 7 * kMiB);
  arena.give(third);
  EXPECT_EQ(arena.high_water_bytes(), 7 * kMiB);
}

TEST(TensorArenaTest, steps_that_free_what_they_took_need_no_more_memory) {
  TensorArena arena(256 * kMiB);
  for (int step = 0; step < 20; ++step) {
    std::vector<void*> kept;
    for (int layer = 0; layer < 8; ++layer) {
      void* const scratch = arena.take(3 * kMiB + static_cast<size_t>(step) * 5000);
      kept.push_back(arena.take(kMiB + static_cast<size_t>(step) * 3000));
      arena.give(scratch);
    }
    for (; !kept.empty(); kept.pop_back()) arena.give(kept.back());
    EXPECT_EQ(arena.taken_bytes(), 0U);
  }
  EXPECT_LE(arena.high_water_bytes(), 13 * kMiB);
}

TEST(TensorArenaTest, has_no_place_for_more_than_it_reserved) {
  TensorArena arena(8 * kMiB);
  EXPECT_EQ(arena.take(9 * kMiB), nullptr);
  void* const all = arena.take(8 * kMiB);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(arena.take(1), nullptr);
  arena.give(all);
  EXPECT_NE(arena.take(8 * kMiB), nullptr);
}

TEST(TensorArenaTest, idle_memory_goes_back_and_the_rest_keeps_its_values) {
  TensorArena arena(64 * kMiB);
  auto* const idle = static_cast<unsigned char*>(arena.take(kMiB));
  auto* const held = static_cast<unsigned char*>(arena.take(kMiB));
  std::memset(idle, 7, kMiB);
  std::memset(held, 9, kMiB);
  arena.give(idle);
  arena.release_idle();
  EXPECT_EQ(held[0], 9);
  EXPECT_EQ(held[kMiB - 1], 9);
  ASSERT_EQ(arena.take(kMiB), idle);
  EXPECT_EQ(idle[0], 0);  // of a fresh page
}

TEST(TensorArenaTest, large_tensors_are_whole_pages_of_it) {
  ASSERT_TRUE(configure_torch({}).ok());
  const at::Tensor tensor = at::empty({1000, 1000});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.const_data_ptr<float>()) % 4096, 0U);
  EXPECT_THROW((void)at::empty({int64_t{1} << 46}), c10::Error);
}

}  // namespace
}  // namespace qfs::nn
