#include "tests/support/chinese_texts.h"

#include <fstream>

namespace qfs::test {

ChineseTexts::ChineseTexts() {
  std::ifstream file("tests/conformance/metrics/chinese_texts.json");
  json_ = nlohmann::json::parse(file);
  sentences_ = json_.at("sentences").get<std::vector<std::string>>();
  pieces_ = json_.at("pieces").get<std::vector<std::string>>();
  separators_ = json_.at("separators").get<std::vector<std::string>>();
}

std::string ChineseTexts::text(SplitMix64& rng) const {
  const size_t kinds[] = {8, 24, pieces_.size()};
  const size_t kind = kinds[rng.below(3)];
  const size_t first = rng.below(pieces_.size());
  const size_t length = rng.below(40);
  std::string text;
  for (size_t i = 0; i < length; ++i) {
    text += pieces_[(first + rng.below(kind)) % pieces_.size()];
    text += separators_[rng.below(separators_.size())];
  }
  return text;
}

std::vector<std::string> ChineseTexts::random_texts() const {
  SplitMix64 rng(24);
  std::vector<std::string> texts;
  for (size_t i = 0; i < 3000; ++i) texts.push_back(text(rng));
  return texts;
}

std::vector<std::pair<std::string, std::string>> ChineseTexts::random_pairs() const {
  SplitMix64 rng(10);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i < 6000; ++i) {
    std::string candidate = text(rng);
    std::string reference = text(rng);
    pairs.emplace_back(std::move(candidate), std::move(reference));
  }
  return pairs;
}

metrics::JiebaDictionary ChineseTexts::dictionary() const {
  const auto text = json_.at("dictionary").get<std::string>();
  return *metrics::JiebaDictionary::parse(text, "small.txt");
}

metrics::JiebaHmm ChineseTexts::hmm() const {
  const auto table = [&](const char* name) { return json_.at(name).get<std::string>(); };
  return *metrics::JiebaHmm::parse(table("prob_start"), table("prob_trans"), table("prob_emit"),
                                   "small");
}

}  // namespace qfs::test
