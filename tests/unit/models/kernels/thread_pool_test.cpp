// The pool visits every item once, for any number of threads, thousands of times in a row.
#include "methods/models/kernels/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace qfs::kernels {
namespace {

TEST(ThreadPool, every_item_is_visited_once) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t count : {0, 1, 3, 7, 1000}) {
      std::vector<int> visits(static_cast<size_t>(count), 0);
      pool.for_ranges(count, 3, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
      });
      pool.for_items(count, [&](int64_t i) { ++visits[static_cast<size_t>(i)]; });
      EXPECT_EQ(visits, std::vector<int>(static_cast<size_t>(count), 2));
    }
  }
}

TEST(ThreadPool, items_go_to_whoever_is_free) {
  ThreadPool pool(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> of_caller{0};
  std::atomic<int> of_helper{0};
  // The first item lasts until all others are done: whoever has it does nothing else.
  std::atomic<int> others{0};
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  pool.for_items(21, [&](int64_t i) {
    ++(std::this_thread::get_id() == caller ? of_caller : of_helper);
    if (i != 0) {
      ++others;
      return;
    }
    while (others < 20 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  });
  EXPECT_EQ(of_caller + of_helper, 21);
  EXPECT_EQ(std::min(of_caller.load(), of_helper.load()), 1);
}

TEST(ThreadPool, loops_in_quick_succession_see_their_own_items_only) {
  ThreadPool pool(3);
  for (int64_t round = 0; round < 3000; ++round) {
    std::vector<int64_t> seen(64, -1);
    pool.for_ranges(64, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) seen[static_cast<size_t>(i)] = round;
    });
    ASSERT_EQ(seen, std::vector<int64_t>(64, round));
  }
}

TEST(ThreadPool, sleeping_helpers_wake_up_for_work) {
  ThreadPool pool(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::atomic<int> helped{0};
  const auto caller = std::this_thread::get_id();
  pool.for_ranges(8, 1, [&](int64_t begin, int64_t end) {
    if (std::this_thread::get_id() != caller) helped += static_cast<int>(end - begin);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  EXPECT_GT(helped.load(), 0);
}

TEST(ThreadPool, small_loops_stay_on_the_calling_thread) {
  ThreadPool pool(4);
  std::set<std::thread::id> threads;
  pool.for_ranges(10, 10, [&](int64_t, int64_t) { threads.insert(std::this_thread::get_id()); });
  EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
}

}  // namespace
}  // namespace qfs::kernels
