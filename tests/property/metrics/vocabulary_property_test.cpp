// Vocabulary's blocks of 64 bytes against the plain walk over bytes (metrics/text/tokens.h).
#include <gtest/gtest.h>

#include "metrics/text/vocabulary.h"
#include "tests/support/random_texts.h"
#include "tests/support/slow_rouge.h"

namespace qfs::test {
namespace {

using metrics::EncodedText;
using metrics::Vocabulary;

Words words_of(const Vocabulary& vocabulary, std::span<const metrics::TokenId> tokens) {
  Words words;
  for (metrics::TokenId token : tokens) words.emplace_back(vocabulary.text(token));
  return words;
}

/// Words of 1 to 20 letters, so that some have eight and some cross a block, between separators of
/// which some hold the bytes of the two unusual characters.
std::string random_text(SplitMix64& rng, bool unusual) {
  const std::string letters = "abcdefgHIJKLMNOPqrstuvwxyzAZ0189";
  const std::vector<std::string> plain = {" ",    "  ", "\n", ", ", "-", "\xE2\x80\x99",
                                          "\n\n", "_",  "é",  "日"};
  const std::vector<std::string> odd = {"\u212A", "\u0130", "\u010D", "\u2104", "\xC4", "\xE2\x84"};
  std::string text;
  for (size_t words = rng.below(40); words-- > 0;) {
    for (size_t length = 1 + rng.below(rng.below(8) == 0 ? 20 : 9); length-- > 0;) {
      text += letters[rng.below(letters.size())];
    }
    if (unusual && rng.below(6) == 0) text += odd[rng.below(odd.size())];
    if (rng.below(10) != 0) text += plain[rng.below(plain.size())];
  }
  return text;
}

TEST(Vocabulary, TokensAndLinesEqualThePlainWalk) {
  SplitMix64 rng(3);
  for (const bool stem : {false, true}) {
    Vocabulary vocabulary(stem);
    EncodedText encoded;
    for (int round = 0; round < 3000; ++round) {
      const std::string text = random_text(rng, round % 3 == 0);
      vocabulary.encode(text, encoded);
      size_t line = 0;
      for (size_t begin = 0; begin <= text.size(); ++line) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        ASSERT_LT(line, encoded.lines()) << text;
        ASSERT_EQ(words_of(vocabulary, encoded.line(line)),
                  slow_tokens(std::string_view(text).substr(begin, end - begin), stem))
            << "line " << line << " of " << text;
        begin = end + 1;
      }
      ASSERT_EQ(encoded.lines(), line) << text;
    }
  }
}

TEST(Vocabulary, ALineThatIsAppendedMayHoldLineBreaks) {
  SplitMix64 rng(4);
  Vocabulary vocabulary(true);
  for (int round = 0; round < 500; ++round) {
    const std::string first = random_text(rng, round % 2 == 0);
    const std::string second = random_text(rng, round % 3 == 0);
    EncodedText encoded;
    vocabulary.append_line(first, encoded);
    vocabulary.append_line(second, encoded);
    ASSERT_EQ(encoded.lines(), 2U);
    ASSERT_EQ(words_of(vocabulary, encoded.line(0)), slow_tokens(first, true)) << first;
    ASSERT_EQ(words_of(vocabulary, encoded.line(1)), slow_tokens(second, true)) << second;
  }
}

}  // namespace
}  // namespace qfs::test
