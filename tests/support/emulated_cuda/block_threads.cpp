#include "tests/support/emulated_cuda/block_threads.h"

#include <ucontext.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace qfs::test::emulated_cuda {

namespace {

constexpr unsigned kWarp = 32;
constexpr size_t kStackBytes = size_t{128} << 10;
constexpr auto kUntouched = std::byte{0xFF};

enum class Waits { no, for_warp, for_block, ended };

struct Thread {
  ucontext_t context{};
  std::byte* stack = nullptr;
  Waits waits = Waits::no;
  float offered = 0;
  float received = 0;
  int mask = 0;
};

/// Kept from grid to grid: fresh memory costs more than most threads compute.
std::byte* stack_of(size_t thread) {
  static std::vector<std::unique_ptr<std::byte[]>> stacks;
  while (stacks.size() <= thread) {
    stacks.push_back(std::make_unique_for_overwrite<std::byte[]>(kStackBytes));
  }
  return stacks[thread].get();
}

class Block {
 public:
  Block(unsigned threads, const std::function<void()>& body) : body_(body), threads_(threads) {
    order_.resize(threads);
    std::iota(order_.begin(), order_.end(), 0U);
    for (size_t i = 0; i < threads; ++i) threads_[i].stack = stack_of(i);
  }

  void run();
  void wait(Waits reason) {
    current().waits = reason;
    swapcontext(&current().context, &scheduler_);
  }
  Thread& current() { return threads_[place().thread.x]; }

 private:
  static void enter();
  bool turn();
  bool release_block();
  bool release_warps();

  const std::function<void()>& body_;
  std::vector<Thread> threads_;
  std::vector<unsigned> order_;
  std::mt19937_64 random_{2026};
  ucontext_t scheduler_{};
  std::exception_ptr failure_;
};

Block* g_block = nullptr;

void Block::enter() {
  try {
    g_block->body_();
  } catch (...) {
    g_block->failure_ = std::current_exception();
  }
  g_block->wait(Waits::ended);
}

/// Lets every thread that can go on run to its next wait; whether there was one.
bool Block::turn() {
  bool any = false;
  std::ranges::shuffle(order_, random_);
  for (const unsigned number : order_) {
    Thread& thread = threads_[number];
    if (thread.waits != Waits::no) continue;
    any = true;
    place().thread = {number, 0, 0};
    swapcontext(&scheduler_, &thread.context);
  }
  return any;
}

bool Block::release_block() {
  bool any = false;
  for (const Thread& thread : threads_) {
    if (thread.waits == Waits::for_warp) return false;
    any = any || thread.waits == Waits::for_block;
  }
  for (Thread& thread : threads_) {
    if (thread.waits == Waits::for_block) thread.waits = Waits::no;
  }
  return any;
}

bool Block::release_warps() {
  bool any = false;
  for (size_t first = 0; first + kWarp <= threads_.size(); first += kWarp) {
    const auto warp = std::span(threads_).subspan(first, kWarp);
    if (!std::ranges::all_of(warp, [](const Thread& t) { return t.waits == Waits::for_warp; })) {
      continue;
    }
    any = true;
    for (size_t lane = 0; lane < kWarp; ++lane) {
      Thread& thread = warp[lane];
      thread.received = warp[lane ^ static_cast<size_t>(thread.mask)].offered;
      thread.waits = Waits::no;
    }
  }
  return any;
}

void Block::run() {
  for (Thread& thread : threads_) {
    thread.waits = Waits::no;
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack;
    thread.context.uc_stack.ss_size = kStackBytes;
    makecontext(&thread.context, &Block::enter, 0);
  }
  g_block = this;
  while (turn() || release_warps() || release_block()) {
    if (failure_ != nullptr) break;
  }
  g_block = nullptr;
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  if (std::ranges::any_of(threads_, [](const Thread& t) { return t.waits != Waits::ended; })) {
    throw std::logic_error("threads wait for one another at different points");
  }
}

}  // namespace

Place& place() {
  static Place here;
  return here;
}

void run_grid(const Index3& blocks, unsigned threads, size_t shared_bytes, SharedMemory shared,
              const std::function<void()>& body) {
  if (shared_bytes > shared.size) {
    throw std::logic_error(std::to_string(shared_bytes) + " bytes of shared memory; there are " +
                           std::to_string(shared.size));
  }
  place().block_size = {threads, 1, 1};
  place().grid_size = blocks;
  Block block(threads, body);
  for (unsigned z = 0; z < blocks.z; ++z) {
    for (unsigned y = 0; y < blocks.y; ++y) {
      for (unsigned x = 0; x < blocks.x; ++x) {
        place().block = {x, y, z};
        std::fill_n(shared.bytes, shared.size, kUntouched);
        block.run();
        const auto beyond = std::span(shared.bytes, shared.size).subspan(shared_bytes);
        if (std::ranges::any_of(beyond, [](std::byte b) { return b != kUntouched; })) {
          throw std::logic_error("shared memory was written beyond what the launch asked for");
        }
      }
    }
  }
}

void wait_for_block() { g_block->wait(Waits::for_block); }

float exchange_in_warp(float value, int mask) {
  Thread& thread = g_block->current();
  thread.offered = value;
  thread.mask = mask;
  g_block->wait(Waits::for_warp);
  return thread.received;
}

}  // namespace qfs::test::emulated_cuda
