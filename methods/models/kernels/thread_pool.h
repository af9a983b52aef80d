// ThreadPool: splits a loop over a few threads with as little waiting as possible.
//
// Owned by whoever runs kernels, one caller at a time. The caller works too and waits only for
// ranges that a helper has begun: a helper that the machine holds up costs nothing, where a barrier
// of all threads would wait for it. Helpers spin for some microseconds, then sleep. Bodies must
// compute each item independently of the split and must not throw.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace qfs::kernels {

class ThreadPool {
 public:
  /// `threads` includes the caller; at least 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(helpers_.size()) + 1; }

  /// Calls `body(begin, end)` for ranges that cover [0, count), each at least `grain` long (but the
  /// last); on the calling thread alone when one range suffices.
  template <class Body>
  void for_ranges(int64_t count, int64_t grain, Body&& body) {
    // Four ranges a thread even out what threads get done.
    const int64_t ranges = 4 * threads();
    run(
        count, std::max({grain, (count + ranges - 1) / ranges, int64_t{1}}),
        [](void* context, int64_t begin, int64_t end) {
          (*static_cast<std::remove_reference_t<Body>*>(context))(begin, end);
        },
        &body);
  }

  /// Calls `body(index)` for each of [0, count), one at a time to whichever thread is free: for
  /// items that each take long.
  template <class Body>
  void for_items(int64_t count, Body&& body) {
    run(
        count, 1,
        [](void* context, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            (*static_cast<std::remove_reference_t<Body>*>(context))(i);
          }
        },
        &body);
  }

 private:
  using Body = void (*)(void* context, int64_t begin, int64_t end);

  void run(int64_t count, int64_t step, Body body, void* context);
  void help();
  void take_ranges();

  // The job. Written by the caller while no helper is inside, read by helpers that are.
  Body body_ = nullptr;
  void* context_ = nullptr;
  int64_t count_ = 0;
  int64_t step_ = 1;

  alignas(64) std::atomic<int64_t> next_{0};
  /// Odd while a job is open. A helper enters by raising `inside_` and then looking again: either
  /// it sees the job closed, or the caller, who closes it and then reads `inside_`, waits for it.
  alignas(64) std::atomic<uint32_t> epoch_{0};
  alignas(64) std::atomic<int32_t> inside_{0};
  alignas(64) std::atomic<int32_t> sleeping_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> helpers_;
};

}  // namespace qfs::kernels
