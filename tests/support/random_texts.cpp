#include "tests/support/random_texts.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace qfs::test {

uint64_t SplitMix64::next() {
  state_ += 0x9E3779B97F4A7C15;
  uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
  return z ^ (z >> 31U);
}

RandomTexts::RandomTexts() {
  std::ifstream file("tests/conformance/metrics/rouge_texts.json");
  const nlohmann::json json = nlohmann::json::parse(file);
  words_ = json.at("words").get<std::vector<std::string>>();
  separators_ = json.at("separators").get<std::vector<std::string>>();
  suffixes_ = json.at("suffixes").get<std::vector<std::string>>();
  letters_ = json.at("letters").get<std::string>();
}

std::string RandomTexts::text(SplitMix64& rng, size_t words) const {
  const size_t kind = rng.below(16);
  if (kind == 0) return "";
  const size_t length = 1 + rng.below(kind < 8 ? 12 : kind < 15 ? 40 : 150);
  std::string text;
  for (size_t i = 0; i < length; ++i) {
    text += words_[rng.below(words)];
    text += separators_[rng.below(separators_.size())];
  }
  return text;
}

std::pair<std::string, std::string> RandomTexts::pair(SplitMix64& rng) const {
  const size_t sizes[] = {5, 20, words_.size()};
  const size_t words = sizes[rng.below(3)];
  std::string reference = text(rng, words);
  return {std::move(reference), text(rng, words)};
}

std::string RandomTexts::word(SplitMix64& rng) const {
  const size_t length = 1 + rng.below(6);
  std::string word;
  for (size_t i = 0; i < length; ++i) word += letters_[rng.below(letters_.size())];
  return word + suffixes_[rng.below(suffixes_.size())];
}

}  // namespace qfs::test
