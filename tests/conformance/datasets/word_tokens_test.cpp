// Word tokens against NLTK 3.8.1 (values by make_word_tokens.py).
#include "datasets/text_forms/word_tokens.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/core/text/unicode.h"

namespace qfs::datasets {
namespace {

nlohmann::json cases(const char* kind) {
  std::ifstream file("tests/conformance/datasets/word_tokens.json");
  return nlohmann::json::parse(file).at(kind);
}

TEST(WordTokens, AreNltksOnLowerCasedSentences) {
  nlohmann::json expected = cases("word_tokenize");
  ASSERT_EQ(expected.size(), 25u);
  for (const nlohmann::json& item : expected) {
    EXPECT_EQ(join_word_tokens(item["text"].get<std::string>(), TreebankRules::nltk_3_8_1),
              item["tokens"])
        << item["text"];
  }
}

TEST(WordTokens, TreebankRulesAreNltksOnRandomPieces) {
  nlohmann::json expected = cases("treebank");
  ASSERT_EQ(expected.size(), 1500u);
  for (const nlohmann::json& item : expected) {
    std::u32string sentence = to_code_points(item["text"].get<std::string>());
    EXPECT_EQ(join_treebank_tokens(sentence, TreebankRules::nltk_3_8_1), item["tokens"])
        << item["text"];
  }
}

TEST(SentencePieces, AreOfNltksSentencesOfItsTokens) {
  nlohmann::json expected = cases("pieces");
  ASSERT_EQ(expected.size(), 12u);
  for (const nlohmann::json& item : expected) {
    constexpr TreebankRules kRules = TreebankRules::nltk_3_8_1;
    const std::string tokens = join_word_tokens(item["text"].get<std::string>(), kRules);
    EXPECT_EQ(nlohmann::json(sentence_pieces(tokens, kRules, 9)), item["pieces"]) << item["text"];
  }
}

}  // namespace
}  // namespace qfs::datasets
