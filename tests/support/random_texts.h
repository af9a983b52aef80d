// Random texts that Python and C++ make alike: the C++ half of the generator in
// tests/conformance/metrics/make_rouge_expected.py, over the pieces in rouge_texts.json.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace qfs::test {

/// SplitMix64 (Steele, Lea & Flood 2014); `below` by remainder, as in the script.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t next();
  size_t below(size_t bound) { return static_cast<size_t>(next() % bound); }

 private:
  uint64_t state_;
};

class RandomTexts {
 public:
  /// Reads tests/conformance/metrics/rouge_texts.json; tests run in the source tree's root.
  RandomTexts();

  /// (reference, candidate); both come from one of three vocabulary sizes and may be empty.
  std::pair<std::string, std::string> pair(SplitMix64& rng) const;
  std::string text(SplitMix64& rng, size_t words) const;
  /// A made-up word of [a-z0-9] that often ends like an English suffix.
  std::string word(SplitMix64& rng) const;

 private:
  std::vector<std::string> words_;
  std::vector<std::string> separators_;
  std::vector<std::string> suffixes_;
  std::string letters_;
};

}  // namespace qfs::test
