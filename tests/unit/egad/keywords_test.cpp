// Dictionaries and the keywords that documents have by them; words that controls put in their
// place.
#include "methods/egad/keywords.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/egad/dictionary.h"

namespace qfs::egad {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Dictionary dictionary() {
  return *Dictionary::parse("the 1000\nwe 500\nbutton 4\nremote 8\ntrendy 1\ncolour 2\n", "d");
}

constexpr const char* kText =
    "The button: we want the Remote, the remote's REMOTE and a trendy button. Trendy 2nd colour?";

std::vector<std::string> lowers(const char* text) {
  std::vector<std::string> words;
  for (const Word& word : words_of(text)) words.push_back(word.lower);
  return words;
}

TEST(Words, are_letters_with_inner_apostrophes) {
  EXPECT_THAT(lowers("Don't, 'we' rock’n’roll 2nd x-ray É 42 -- o'"),
              ElementsAre("don't", "we", "rock'n'roll", "nd", "x", "ray", "é", "o"));
  EXPECT_THAT(lowers(" 12 ' "), IsEmpty());
}

TEST(Occurrences, stand_at_bytes_of_the_text) {
  // "É" has two bytes, the typographic apostrophe three.
  EXPECT_THAT(occurrences_of("É hat, HAT’s hat", {"hat", "é"}),
              ElementsAre(Occurrence{0, 2}, Occurrence{3, 6}, Occurrence{16, 19}));
  EXPECT_THAT(occurrences_of("HAT’s", {"hat's"}), ElementsAre(Occurrence{0, 7}));
  EXPECT_THAT(occurrences_of("hat", {}), IsEmpty());
}

TEST(Keywords, are_frequent_here_and_rare_in_general) {
  // trendy 2/1, button 2/4, colour 1/2, remote 2/8 ("remote's" is another word), the 3/1000.
  EXPECT_THAT(keywords_of(kText, dictionary(), {.k = 4}),
              ElementsAre("trendy", "button", "colour", "remote"));
  EXPECT_THAT(keywords_of(kText, dictionary(), {.k = 100}),
              ElementsAre("trendy", "button", "colour", "remote", "the", "we"));
}

TEST(Keywords, other_scores_and_rules) {
  // 3 log(1515/1000) of "the" is above 1 log(1515/500), 2 log(1515/4) above 2 log(1515/8).
  EXPECT_THAT(keywords_of(kText, dictionary(), {.k = 9, .score = KeywordScore::tf_idf}),
              ElementsAre("trendy", "button", "remote", "colour", "the", "we"));
  EXPECT_THAT(keywords_of(kText, dictionary(), {.k = 3, .score = KeywordScore::divergence}),
              ElementsAre("trendy", "button", "remote"));
  EXPECT_THAT(keywords_of(kText, dictionary(), {.k = 3, .fewest = 2}),
              ElementsAre("trendy", "button", "remote"));
  EXPECT_THAT(keywords_of("REMOTE remote Remote Remote", dictionary(), {.k = 1, .surface = true}),
              ElementsAre("Remote"));
  EXPECT_THAT(keywords_of("nothing known", dictionary(), {.k = 3}), IsEmpty());
}

TEST(Keywords, drawn_words_of_more_begin_with_those_of_fewer) {
  const auto ten = drawn_words(kText, 10, 3, "m1");
  const auto four = drawn_words(kText, 4, 3, "m1");
  EXPECT_EQ(std::vector<std::string>(ten.begin(), ten.begin() + 4), four);
  EXPECT_NE(drawn_words(kText, 10, 4, "m1"), ten);
  EXPECT_NE(drawn_words(kText, 10, 3, "m2"), ten);
  EXPECT_EQ(drawn_words(kText, 100, 3, "m1").size(), 11U);  // distinct ones, known or not
}

TEST(Keywords, gibberish_has_up_to_ten_letters) {
  const auto words = gibberish(200, 0, "m1");
  ASSERT_EQ(words.size(), 200U);
  size_t letters = 0;
  for (const std::string& word : words) {
    EXPECT_TRUE(!word.empty() && word.size() <= 10) << word;
    letters += word.size();
    for (const char c : word) EXPECT_TRUE(c >= 'a' && c <= 'z');
  }
  EXPECT_NEAR(static_cast<double>(letters) / 200, 5, 0.5);
  EXPECT_EQ(gibberish(5, 0, "m1"), std::vector<std::string>(words.begin(), words.begin() + 5));
  EXPECT_NE(gibberish(5, 1, "m1"), gibberish(5, 0, "m1"));
}

TEST(Dictionary, adds_up_what_differs_in_case_and_takes_ranks) {
  const auto counts = Dictionary::parse("\xEF\xBB\xBFThe 10\nthe 5\r\nhat 1", "d");
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts->frequency("the"), 15);
  EXPECT_EQ(counts->total(), 16);
  EXPECT_FALSE(counts->frequency("cat"));
  const auto ranks = Dictionary::parse("the\nwe\nhat\n", "d");
  ASSERT_TRUE(ranks.ok());
  EXPECT_DOUBLE_EQ(*ranks->frequency("the") / *ranks->frequency("hat"), 3);
}

TEST(Dictionary, has_typographic_apostrophes_as_documents_have) {
  const auto dictionary = Dictionary::parse("don\xE2\x80\x99t 3\n", "d");
  ASSERT_TRUE(dictionary.ok());
  EXPECT_EQ(dictionary->frequency(words_of("don\xE2\x80\x99t").front().lower), 3);
  EXPECT_EQ(dictionary->frequency("don't"), 3);
}

TEST(Dictionary, can_be_counted_of_documents) {
  Dictionary counted;
  counted.count("We buy. We don't.");
  EXPECT_EQ(counted.frequency("we"), 2);
  EXPECT_EQ(counted.frequency("don't"), 1);
}

TEST(Dictionary, bad_lines_are_named) {
  const auto refusal = [](const char* text) {
    const auto parsed = Dictionary::parse(text, "d.txt");
    return parsed.ok() ? std::string("read") : parsed.error().to_string();
  };
  EXPECT_THAT(refusal("the 10\nwe x\n"), HasSubstr("d.txt:2: the count 'x'"));
  EXPECT_THAT(refusal("the 10\nwe 0\n"), HasSubstr("d.txt:2: the count '0'"));
  EXPECT_THAT(refusal("the 10\nwe\n"), HasSubstr("d.txt:2: no count"));
  EXPECT_THAT(refusal("the\nwe 3\n"), HasSubstr("d.txt:2: a count"));
  EXPECT_THAT(refusal("the 1 2\n"), HasSubstr("d.txt:1: expected a word"));
  EXPECT_THAT(refusal("the 1\n\nwe 2\n"), HasSubstr("d.txt:2: an empty line"));
  EXPECT_THAT(refusal("the 1\nw\xff 2\n"), HasSubstr("d.txt:2: ill-formed"));
  EXPECT_THAT(refusal(""), HasSubstr("without words"));
}

}  // namespace
}  // namespace qfs::egad
