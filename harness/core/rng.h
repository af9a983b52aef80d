// The project's own random numbers: equal on every platform and standard library.
//
// xoshiro256** (Blackman & Vigna 2018), seeded through SplitMix64. Streams are derived by hash
// (seed, purpose, index), never from call order, so that batches and resumption do not change a
// draw. Not thread-safe; cheap to copy.
#pragma once

#include <array>
#include <bit>
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

inline uint64_t Rng::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

inline uint64_t Rng::below(uint64_t bound) {
  __extension__ using uint128 = unsigned __int128;
  uint128 product = static_cast<uint128>(next()) * bound;
  auto low = static_cast<uint64_t>(product);
  if (low < bound) {
    const uint64_t threshold = (0 - bound) % bound;
    while (low < threshold) {
      product = static_cast<uint128>(next()) * bound;
      low = static_cast<uint64_t>(product);
    }
  }
  return static_cast<uint64_t>(product >> 64);
}

}  // namespace qfs
