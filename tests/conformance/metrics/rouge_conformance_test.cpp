// RougeScorer against rouge_score 0.1.2: parity cases, 10,000 random pairs, words and characters.
// Expected values: make_rouge_expected.py.
#include "metrics/text/porter_stemmer.h"
#include "metrics/text/tokens.h"
#include "tests/conformance/metrics/expected_values.h"
#include "tests/support/random_texts.h"

namespace qfs::test {
namespace {

using metrics::RougeScorer;

const char* key_of(bool stem) { return stem ? "stem_on" : "stem_off"; }

TEST(RougeConformance, EveryParityCaseEqualsRougeScore) {
  const nlohmann::json expected = expected_values("rouge_parity.json");
  ASSERT_GE(expected.at("cases").size(), 25U);
  for (const nlohmann::json& item : expected.at("cases")) {
    for (bool stem : {true, false}) {
      RougeScorer scorer({.stem = stem});
      const auto scores = scorer.score_multi(item.at("references").get<std::vector<std::string>>(),
                                             item.at("candidate").get<std::string>());
      ASSERT_TRUE(scores.ok()) << scores.error().to_string();
      expect_rows_near(row_of(*scores), item.at(key_of(stem)).get<Row>(),
                       item.at("name").get<std::string>() + ", " + key_of(stem));
    }
  }
}

class RandomPairs : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    expected_ = expected_values("rouge_random.json");
    const RandomTexts texts;
    SplitMix64 rng(expected_.at("seed").get<uint64_t>());
    const auto count = expected_.at("count").get<size_t>();
    for (size_t i = 0; i < count; ++i) pairs_.push_back(texts.pair(rng));
  }
  const nlohmann::json& values() const { return expected_.at(key_of(GetParam())); }

  nlohmann::json expected_;
  std::vector<std::pair<std::string, std::string>> pairs_;
};

TEST_P(RandomPairs, TextsAreThoseOfTheReferenceRun) {
  Sha256 hash;
  for (size_t i = 0; i < pairs_.size(); ++i) {
    if (i > 0) hash.update("\x1e");
    hash.update(pairs_[i].first).update("\x1e").update(pairs_[i].second);
  }
  EXPECT_EQ(hash.hex(), expected_.at("texts_sha256").get<std::string>());
}

TEST_P(RandomPairs, EveryBitEqualsRougeScore) {
  RougeScorer scorer({.stem = GetParam()});
  std::vector<Row> rows;
  for (const auto& [reference, candidate] : pairs_) {
    rows.push_back(row_of(scorer.score(scorer.encode(reference), scorer.encode(candidate))));
  }
  const nlohmann::json& first = values().at("first");
  for (size_t i = 0; i < first.size(); ++i) {
    expect_rows_near(rows[i], first[i].get<Row>(), "pair " + std::to_string(i));
  }
  const nlohmann::json& blocks = values().at("blocks");
  ASSERT_EQ(blocks.size() * 100, rows.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    EXPECT_EQ(digest(rows, b * 100, b * 100 + 100), blocks[b].get<std::string>())
        << "a pair in [" << b * 100 << ", " << b * 100 + 100 << ") differs";
  }
}

TEST_P(RandomPairs, ThreeReferencesEqualScoreMulti) {
  RougeScorer scorer({.stem = GetParam()});
  const nlohmann::json& blocks = values().at("multi_blocks");
  std::vector<Row> rows;
  for (size_t i = 0; i < blocks.size() * 100; ++i) {
    const std::vector<std::string> references = {pairs_[i].first, pairs_[i + 1].first,
                                                 pairs_[i + 2].first};
    const auto scores = scorer.score_multi(references, pairs_[i].second);
    ASSERT_TRUE(scores.ok());
    rows.push_back(row_of(*scores));
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    EXPECT_EQ(digest(rows, b * 100, b * 100 + 100), blocks[b].get<std::string>()) << "block " << b;
  }
}

INSTANTIATE_TEST_SUITE_P(Stemming, RandomPairs, testing::Bool(),
                         [](const auto& info) { return key_of(info.param); });

TEST(StemmerConformance, FiftyThousandWordsEqualNltk) {
  const nlohmann::json expected = expected_values("rouge_words.json");
  for (const nlohmann::json& pair : expected.at("first")) {
    EXPECT_EQ(metrics::porter_nltk_stem(pair[0].get<std::string>()), pair[1].get<std::string>())
        << pair[0];
  }
  const RandomTexts texts;
  SplitMix64 rng(expected.at("seed").get<uint64_t>());
  const nlohmann::json& blocks = expected.at("blocks");
  for (size_t b = 0; b < blocks.size(); ++b) {
    std::string joined;
    for (size_t i = 0; i < 1000; ++i) {
      if (i > 0) joined += '\n';
      joined += metrics::porter_nltk_stem(texts.word(rng));
    }
    EXPECT_EQ(sha256_hex(joined), blocks[b].get<std::string>()) << "words from " << b * 1000;
  }
}

std::string utf8(char32_t c) {
  const auto byte = [](char32_t value) { return static_cast<char>(value); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
  if (c < 0x10000) {
    return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
  }
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F)),
          byte(0x80 | (c & 0x3F))};
}

TEST(TokenConformance, EveryUnicodeCharacterSeparatesOrJoinsAsInRougeScore) {
  Sha256 hash;
  std::string buffer;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string line;
    std::string text = "A";
    text.append(utf8(c)).append("b");
    metrics::for_each_token(text, buffer, [&](std::string_view token) {
      if (!line.empty()) line += ' ';
      line += token;
    });
    hash.update(line + "\n");
  }
  EXPECT_EQ(hash.hex(),
            expected_values("rouge_words.json").at("characters_sha256").get<std::string>());
}

}  // namespace
}  // namespace qfs::test
