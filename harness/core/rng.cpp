#include "harness/core/rng.h"

#include <bit>
#include <string>

#include "harness/core/sha256.h"

namespace qfs {
namespace {

__extension__ using uint128 = unsigned __int128;

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

uint64_t Rng::next() {
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

uint64_t Rng::below(uint64_t bound) {
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

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

}  // namespace qfs
