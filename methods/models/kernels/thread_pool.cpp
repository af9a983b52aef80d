#include "methods/models/kernels/thread_pool.h"

#include <algorithm>

namespace qfs::kernels {

namespace {

// About 20 microseconds: longer than the gap between two loops of a decoding step.
constexpr int kSpins = 2000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) helpers_.emplace_back([this] { help(); });
}

ThreadPool::~ThreadPool() {
  stopping_.store(true);
  epoch_.fetch_add(2);  // stays even: no job
  epoch_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadPool::take_ranges() {
  for (int64_t begin = next_.fetch_add(step_); begin < count_; begin = next_.fetch_add(step_)) {
    body_(context_, begin, std::min(count_, begin + step_));
  }
}

void ThreadPool::run(int64_t count, int64_t step, Body body, void* context) {
  if (helpers_.empty() || count <= step) {
    if (count > 0) body(context, 0, count);
    return;
  }
  body_ = body;
  context_ = context;
  count_ = count;
  step_ = step;
  next_.store(0);
  epoch_.fetch_add(1);
  if (sleeping_.load() > 0) epoch_.notify_all();
  take_ranges();
  epoch_.fetch_add(1);
  for (int spins = 0; inside_.load() > 0; ++spins) {
    pause();
    if (spins > kSpins) std::this_thread::yield();
  }
}

void ThreadPool::help() {
  uint32_t done = 0;
  for (;;) {
    uint32_t epoch = epoch_.load();
    const auto idle = [&] { return epoch % 2 == 0 || epoch == done; };
    for (int spins = 0; idle() && spins < kSpins; ++spins) {
      pause();
      epoch = epoch_.load();
    }
    // Read after the epoch: when it says no, the epoch is raised after our reading of it, and
    // waiting for another epoch than that ends.
    if (stopping_.load()) return;
    if (idle()) {
      sleeping_.fetch_add(1);
      epoch_.wait(epoch);
      sleeping_.fetch_sub(1);
      continue;
    }
    inside_.fetch_add(1);
    if (epoch_.load() == epoch) take_ranges();
    inside_.fetch_sub(1);
    done = epoch;
  }
}

}  // namespace qfs::kernels
