#include "harness/core/rng.h"

#include <string>

#include "harness/core/sha256.h"

namespace qfs {
namespace {

/// SplitMix64 (Steele, Lea & Flood 2014), the seeding that the authors of xoshiro recommend.
uint64_t split_mix(uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(uint64_t seed) : state_{} {
  for (uint64_t& word : state_) word = split_mix(seed);
}

Rng Rng::derived(uint64_t seed, std::string_view purpose, uint64_t index) {
  const std::string hex =
      sha256_hex(std::to_string(seed) + "/" + std::string(purpose) + "/" + std::to_string(index));
  return Rng(std::stoull(hex.substr(0, 16), nullptr, 16));  // the first eight bytes, big endian
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

}  // namespace qfs
