#include "methods/models/kernels/memory_rates.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "harness/core/clock.h"

namespace qfs::kernels {

namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kLeastBuffer = 128 * kMebibyte;
constexpr int64_t kMostBuffer = 1024 * kMebibyte;
constexpr int64_t kWordsOfTask = kMebibyte / 8;
constexpr size_t kLeastPasses = 3;

/// Of the last level of caches that the first core has; 0: not known.
int64_t last_cache_bytes() {
  int64_t bytes = 0;
  for (const char level : {'2', '3'}) {
    std::ifstream file(std::string("/sys/devices/system/cpu/cpu0/cache/index") + level + "/size");
    int64_t kibibytes = 0;  // "32768K"
    if (file >> kibibytes) bytes = std::max(bytes, kibibytes << 10);
  }
  return bytes;
}

/// A word of noise for its position (the finalizer of SplitMix64, Steele et al. 2014).
uint64_t noise(uint64_t x) {
  x = (x + 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

#ifdef __x86_64__
#define QFS_WIDEST_VECTORS \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define QFS_WIDEST_VECTORS
#endif

/// As fast as memory is read here: many sums, so that adding waits for memory and not for
/// additions, and lines asked for a page ahead, where the processor's own foresight ends.
QFS_WIDEST_VECTORS uint64_t sum_of(const uint64_t* words, int64_t count) {
  constexpr int64_t kSums = 32;
  constexpr int64_t kLine = 8;
  constexpr int64_t kAhead = 512;
  std::array<uint64_t, kSums> sums{};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int64_t line = 0; line < kSums; line += kLine) {
      __builtin_prefetch(words + i + kAhead + line);
    }
    for (int64_t j = 0; j < kSums; ++j) sums[static_cast<size_t>(j)] += words[i + j];
  }
  uint64_t sum = 0;
  for (; i < count; ++i) sum += words[i];
  for (const uint64_t part : sums) sum += part;
  return sum;
}

}  // namespace

std::vector<int64_t> pass_times(double seconds, const std::function<void()>& pass) {
  pass();
  std::vector<int64_t> times;
  const int64_t end = monotonic_ns() + static_cast<int64_t>(seconds * 1e9);
  while (times.size() < kLeastPasses || monotonic_ns() < end) {
    const int64_t begin = monotonic_ns();
    pass();
    times.push_back(std::max<int64_t>(monotonic_ns() - begin, 1));
  }
  return times;
}

ObservedRate observed_rate(std::vector<int64_t> ns, double amount) {
  std::ranges::sort(ns);
  const auto rate = [&](int64_t time) { return amount * 1e9 / static_cast<double>(time); };
  return {rate(ns.front()), rate(ns[ns.size() / 2]), rate(ns.back()),
          static_cast<int64_t>(ns.size())};
}

MemoryRates measure_memory(ThreadPool& pool, double seconds) {
  MemoryRates rates;
  rates.buffer_bytes = std::clamp(4 * last_cache_bytes(), kLeastBuffer, kMostBuffer);
  const int64_t words = rates.buffer_bytes / 8;
  // Not value-initialized: the threads that read a page are the first to touch it.
  const std::unique_ptr<uint64_t[]> buffer(new uint64_t[static_cast<size_t>(words)]);
  uint64_t* const data = buffer.get();
  pool.for_ranges(words, kWordsOfTask, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) data[i] = noise(static_cast<uint64_t>(i));
  });
  std::atomic<uint64_t> kept{0};  // makes the sums count
  const auto read = [&] {
    pool.for_ranges(words, kWordsOfTask, [&](int64_t begin, int64_t end) {
      kept.fetch_add(sum_of(data + begin, end - begin), std::memory_order_relaxed);
    });
  };
  const int64_t half = words / 2;
  const auto copy = [&] {
    pool.for_ranges(half, kWordsOfTask, [&](int64_t begin, int64_t end) {
      std::memcpy(data + half + begin, data + begin, static_cast<size_t>(end - begin) * 8);
    });
  };
  const auto bytes = static_cast<double>(rates.buffer_bytes);
  rates.read = observed_rate(pass_times(seconds / 2, read), bytes);
  rates.copy = observed_rate(pass_times(seconds / 2, copy), bytes);
  return rates;
}

}  // namespace qfs::kernels
