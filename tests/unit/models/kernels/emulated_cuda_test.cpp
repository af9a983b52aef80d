// The emulation of CUDA's threads does what kernels rely on, and notices what would go wrong on a
// GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/support/emulated_cuda/block_threads.h"

namespace qfs::test::emulated_cuda {
namespace {

using ::testing::HasSubstr;

constexpr unsigned kThreads = 64;

class EmulatedCuda : public ::testing::Test {
 protected:
  void run(const std::function<void()>& body, unsigned blocks = 1,
           size_t shared_bytes = kThreads * sizeof(float)) {
    run_grid(blocks, kThreads, shared_bytes,
             {reinterpret_cast<std::byte*>(shared_.data()), sizeof(shared_)}, body);
  }
  std::string failure(const std::function<void()>& body) {
    try {
      run(body);
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "none";
  }
  /// Every thread gives a number to its neighbour through shared memory.
  std::vector<float> rotated(bool with_barrier) {
    std::vector<float> out(kThreads, -1);
    run([&] {
      const unsigned me = place().thread.x;
      shared_[me] = static_cast<float>(me);
      if (with_barrier) wait_for_block();
      out[me] = shared_[(me + 1) % kThreads];
    });
    return out;
  }

  std::array<float, 256> shared_{};
};

TEST_F(EmulatedCuda, threads_meet_at_barriers_and_a_missing_one_shows) {
  std::vector<float> expected;
  for (unsigned i = 0; i < kThreads; ++i)
    expected.push_back(static_cast<float>((i + 1) % kThreads));
  EXPECT_EQ(rotated(true), expected);
  EXPECT_NE(rotated(false), expected);
}

TEST_F(EmulatedCuda, shared_memory_holds_nothing_of_use_at_first_and_no_more_than_was_asked_for) {
  int numbers = 0;
  const auto body = [&] {
    const unsigned me = place().thread.x;
    if (shared_[me] == shared_[me]) ++numbers;
    shared_[me] = 1;
  };
  run(body, 2);
  EXPECT_EQ(numbers, 0);
  EXPECT_THAT(failure([&] { shared_[place().thread.x + 1] = 1; }), HasSubstr("beyond"));
  EXPECT_THROW(run(body, 1, sizeof(shared_) + 1), std::logic_error);
}

TEST_F(EmulatedCuda, a_warp_exchanges_values_by_number) {
  std::vector<float> out(kThreads);
  run([&] {
    const auto me = place().thread.x;
    float sum = static_cast<float>(me);
    for (int mask = 16; mask > 0; mask /= 2) sum += exchange_in_warp(sum, mask);
    out[me] = sum;
  });
  for (unsigned i = 0; i < kThreads; ++i) EXPECT_EQ(out[i], i < 32 ? 496 : 1520) << i;
}

TEST_F(EmulatedCuda, ended_threads_are_not_waited_for_at_a_barrier_but_missed_in_a_warp) {
  int passed = 0;
  run([&] {
    if (place().thread.x % 2 == 0) return;
    wait_for_block();
    ++passed;
  });
  EXPECT_EQ(passed, kThreads / 2);
  EXPECT_THAT(failure([] {
                if (place().thread.x != 5) exchange_in_warp(0, 1);
              }),
              HasSubstr("different points"));
  EXPECT_THAT(failure([] {
                if (place().thread.x < 32) {
                  exchange_in_warp(0, 1);
                  wait_for_block();
                } else if (place().thread.x == 40) {
                  exchange_in_warp(0, 1);
                } else {
                  wait_for_block();
                }
              }),
              HasSubstr("different points"));
}

TEST_F(EmulatedCuda, every_block_runs_and_a_failure_comes_out) {
  std::vector<unsigned> blocks;
  run(
      [&] {
        if (place().thread.x == 0) blocks.push_back(place().block.x);
      },
      3);
  EXPECT_EQ(blocks, (std::vector<unsigned>{0, 1, 2}));
  EXPECT_THROW(run([] { throw std::out_of_range("an index"); }), std::out_of_range);
}

}  // namespace
}  // namespace qfs::test::emulated_cuda
