// Tokens, interning, stems remembered per word, and lines of encoded texts.
#include "metrics/text/vocabulary.h"

#include <gtest/gtest.h>

namespace qfs::metrics {
namespace {

std::vector<std::string> words(const Vocabulary& vocabulary, std::span<const TokenId> tokens) {
  std::vector<std::string> result;
  for (TokenId token : tokens) result.emplace_back(vocabulary.text(token));
  return result;
}

std::vector<std::string> words_of(std::string_view text, bool stem) {
  Vocabulary vocabulary(stem);
  return words(vocabulary, vocabulary.encode(text).tokens);
}

using Words = std::vector<std::string>;

TEST(Tokens, AreLowerCasedRunsOfAsciiLettersAndDigits) {
  EXPECT_EQ(words_of("State-of-the-art, foo_bar 1,000.50!", false),
            (Words{"state", "of", "the", "art", "foo", "bar", "1", "000", "50"}));
}

TEST(Tokens, NonAsciiLettersSeparate) {
  EXPECT_EQ(words_of("café's ＡＢＣ 小明", false), (Words{"caf", "s"}));
}

TEST(Tokens, KelvinSignIsALetterKAndDottedCapitalIEndsAWord) {
  EXPECT_EQ(words_of("300\u212A x\u0130stanbul", false), (Words{"300k", "xi", "stanbul"}));
}

TEST(Tokens, BytesOfACutMultiByteCharacterSeparate) {
  EXPECT_EQ(words_of("a\xE2\x84", false), (Words{"a"}));
  EXPECT_EQ(words_of("a\xC4", false), (Words{"a"}));
}

TEST(Vocabulary, StemsWordsOfMoreThanThreeLettersOnly) {
  EXPECT_EQ(words_of("cats was hopping", true), (Words{"cat", "was", "hop"}));
  EXPECT_EQ(words_of("cats was hopping", false), (Words{"cats", "was", "hopping"}));
}

TEST(Vocabulary, WordsWithOneStemShareAnId) {
  Vocabulary vocabulary(true);
  EXPECT_EQ(vocabulary.id("motoring"), vocabulary.id("motored"));
  EXPECT_NE(vocabulary.id("motoring"), vocabulary.id("moths"));
  EXPECT_EQ(vocabulary.id("motor"), vocabulary.id("motoring"));
}

TEST(Vocabulary, IdsStayDenseAndEqualWhileTheTableGrows) {
  Vocabulary vocabulary(false);
  std::vector<TokenId> ids;
  for (int i = 0; i < 5000; ++i) ids.push_back(vocabulary.id(std::to_string(i)));
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(ids[static_cast<size_t>(i)], static_cast<TokenId>(i));
    EXPECT_EQ(vocabulary.id(std::to_string(i)), static_cast<TokenId>(i));
  }
  EXPECT_EQ(vocabulary.size(), 5000U);
}

TEST(EncodedText, LinesEndAtNewlineOnly) {
  Vocabulary vocabulary(false);
  const EncodedText text = vocabulary.encode("a b\r\nc\u2028d\n\ne");
  ASSERT_EQ(text.lines(), 4U);
  EXPECT_EQ(words(vocabulary, text.line(0)), (Words{"a", "b"}));
  EXPECT_EQ(words(vocabulary, text.line(1)), (Words{"c", "d"}));
  EXPECT_TRUE(text.line(2).empty());
  EXPECT_EQ(words(vocabulary, text.line(3)), (Words{"e"}));
}

}  // namespace
}  // namespace qfs::metrics
