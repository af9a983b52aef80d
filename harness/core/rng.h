// The project's own random numbers: equal on every platform and standard library.
//
// xoshiro256** (Blackman & Vigna 2018), seeded through SplitMix64. Streams are derived by hash
// (seed, purpose, index), never from call order, so that batches and resumption do not change a
// draw. Not thread-safe; cheap to copy.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace qfs {

class Rng {
 public:
  explicit Rng(uint64_t seed);
  /// An independent stream for one purpose and index under a run's seed.
  static Rng derived(uint64_t seed, std::string_view purpose, uint64_t index = 0);

  uint64_t next();
  /// Uniform in [0, bound), without modulo bias (Lemire 2019). bound > 0.
  uint64_t below(uint64_t bound);
  /// Uniform in [0, 1) with 53 bits.
  double uniform();

  /// Fisher-Yates.
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace qfs
