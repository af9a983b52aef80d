// The pieces inside which merges happen, as the published patterns define them.
#include "methods/models/tokenizers/bpe/word_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace qfs::tokenizers {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> split(WordPattern pattern, std::string_view text) {
  std::vector<std::string> pieces;
  split_words(pattern, text, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}
std::vector<std::string> gpt2(std::string_view text) { return split(WordPattern::gpt2, text); }
std::vector<std::string> smollm(std::string_view text) { return split(WordPattern::smollm, text); }

TEST(Gpt2Words, a_word_takes_one_space_before_it) {
  EXPECT_THAT(gpt2("Hello world  again"), ElementsAre("Hello", " world", " ", " again"));
}

TEST(Gpt2Words, contractions_are_pieces_only_in_lower_case) {
  EXPECT_THAT(gpt2("they'll I'M we've"), ElementsAre("they", "'ll", " I", "'", "M", " we", "'ve"));
  EXPECT_THAT(gpt2(" 's"), ElementsAre(" '", "s"));
}

TEST(Gpt2Words, letters_numbers_and_the_rest_are_kept_apart) {
  EXPECT_THAT(gpt2("a1!b 23,"), ElementsAre("a", "1", "!", "b", " 23", ","));
}

TEST(Gpt2Words, the_last_space_of_a_run_goes_to_the_word_unless_the_text_ends) {
  EXPECT_THAT(gpt2("a\n\n b"), ElementsAre("a", "\n\n", " b"));
  EXPECT_THAT(gpt2("a\nb"), ElementsAre("a", "\n", "b"));
  EXPECT_THAT(gpt2("a \xE3\x80\x80z"), ElementsAre("a", " ", "\xE3\x80\x80", "z"));
  EXPECT_THAT(gpt2("a   "), ElementsAre("a", "   "));
}

TEST(SmollmWords, every_number_character_is_its_own_piece) {
  EXPECT_THAT(smollm("x42\xC2\xBDy"), ElementsAre("x", "4", "2", "\xC2\xBD", "y"));  // ½ is \p{No}
  EXPECT_THAT(smollm("\xE2\x85\xA7!"), ElementsAre("\xE2\x85\xA7", "!"));  // Ⅷ is \p{Nl}
}

TEST(SmollmWords, spaces_before_a_number_stay_one_piece) {
  EXPECT_THAT(smollm("a  7"), ElementsAre("a", "  ", "7"));
  EXPECT_THAT(smollm("a  b"), ElementsAre("a", " ", " b"));
  EXPECT_THAT(smollm(" 7 "), ElementsAre(" ", "7", " "));
}

TEST(Words, pieces_cover_the_text) {
  for (std::string_view text :
       {"", " ", "'", "''s \t1\n2 \xF0\x9F\x98\x80\xF0\x9F\x98\x80 e\xCC\x81"}) {
    std::string joined;
    for (const std::string& piece : smollm(text)) joined += piece;
    EXPECT_EQ(joined, text);
  }
}

TEST(WordPatternNames, unknown_pre_tokenizers_have_no_pattern) {
  EXPECT_EQ(word_pattern("smollm"), WordPattern::smollm);
  EXPECT_EQ(word_pattern("gpt-2"), WordPattern::gpt2);
  EXPECT_EQ(word_pattern("llama-bpe"), std::nullopt);
}

}  // namespace
}  // namespace qfs::tokenizers
