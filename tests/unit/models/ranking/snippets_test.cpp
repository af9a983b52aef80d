// Snippets of documents, and those that are to be found: by the oracle, by gold evidence.
#include "methods/models/ranking/snippets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace qfs::ranking {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Example example() {
  Example example;
  example.key = "e";
  example.document = {{"The cat sat on the mat.", "Ann"},
                      {" ", "Bob"},
                      {"Yes.", "Bob"},
                      {"We bought a red house. It was cheap.", "Ann"}};
  return example;
}

TEST(Snippets, are_the_segments_that_have_text) {
  const auto snippets = snippets_of(example());
  ASSERT_TRUE(snippets.ok());
  ASSERT_EQ(snippets->size(), 3U);
  EXPECT_EQ((*snippets)[0].text(), "Ann: The cat sat on the mat.");
  EXPECT_EQ((*snippets)[1].content(), "Yes.");
}

TEST(Snippets, pieces_are_cut_out_of_sentences) {
  const auto snippets = snippets_of(example(), {.piece_words = 4});
  ASSERT_TRUE(snippets.ok());
  std::vector<std::string> contents;
  for (const Snippet& snippet : *snippets) contents.push_back(snippet.content());
  EXPECT_THAT(contents, ElementsAre("the cat sat on", "the mat .", "yes .", "we bought a red",
                                    "house .", "it was cheap ."));
}

TEST(Snippets, passages_are_neighbouring_segments_that_fit_together) {
  // With their speakers these have 7, 2 and 9 words.
  const auto all = snippets_of(example(), {.passage_words = 18});
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 1U);
  EXPECT_EQ(all->front().text(),
            "Ann: The cat sat on the mat.\nBob: Yes.\nAnn: We bought a red house. It was cheap.");
  EXPECT_EQ(all->front().content(),
            "The cat sat on the mat.\nYes.\nWe bought a red house. It was cheap.");
  const auto two = snippets_of(example(), {.passage_words = 17});
  ASSERT_TRUE(two.ok());
  EXPECT_THAT(*two, ElementsAre(Snippet{{{"The cat sat on the mat.", "Ann"}, {"Yes.", "Bob"}}},
                                Snippet{{{"We bought a red house. It was cheap.", "Ann"}}}));
}

TEST(Snippets, what_is_left_of_a_cut_passage_is_without_speakers) {
  const Snippet passage = {{{"No.", "Ann"}, {"Yes. Yes.", "Bob"}, {"Well."}}};
  ASSERT_EQ(passage.text(), "Ann: No.\nBob: Yes. Yes.\nWell.");
  const auto left = [&](const char* beginning) { return passage.content_of(beginning); };
  EXPECT_EQ(left("Ann: No.\nBob: Yes."), "No.\nYes.");
  EXPECT_EQ(left("Ann: No.\nBob: Yes. Yes.\nWe"), "No.\nYes. Yes.\nWe");
  EXPECT_EQ(left("Ann: No.\nBob: "), "No.");
  EXPECT_EQ(left("Ann: No."), "No.");
  EXPECT_EQ(left("Ann"), "");
}

TEST(Snippets, long_segments_are_cut_into_passages_where_a_sentence_ends) {
  const auto texts = [](int64_t words, Example of = example()) {
    std::vector<std::string> texts;
    const auto snippets = snippets_of(of, {.passage_words = words});
    EXPECT_TRUE(snippets.ok());
    for (const Snippet& snippet : *snippets) texts.push_back(snippet.text());
    return texts;
  };
  EXPECT_THAT(texts(8),
              ElementsAre("Ann: The cat sat on the mat.", "Bob: Yes.\nAnn: We bought a red house.",
                          "Ann: It was cheap."));
  EXPECT_THAT(texts(5), ElementsAre("Ann: The cat sat on", "Ann: the mat.\nBob: Yes.",
                                    "Ann: We bought a red", "Ann: house. It was cheap."));
  Example early;
  early.document = {{"Yes. We bought a house."}};
  EXPECT_THAT(texts(4, early), ElementsAre("Yes. We bought a", "house."))
      << "no short part is cut off";
  EXPECT_THAT(texts(1), ::testing::SizeIs(15)) << "a word each, whoever speaks";
}

TEST(Snippets, a_document_without_text_is_refused) {
  Example empty = example();
  empty.document = {{"  ", "Ann"}};
  const auto refused = snippets_of(empty);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("document of example 'e' has no text"));
  empty.document.clear();
  EXPECT_FALSE(snippets_of(empty).ok());
}

TEST(Snippets, a_document_without_words_is_refused) {
  for (const char* text : {" ", "\u00a0", "\x0b", "\u3000"}) {
    Example one = example();
    one.document = {{text, ""}};
    const auto refused = snippets_of(one, {.piece_words = 4});
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("has no text to take from"));
  }
}

TEST(Snippets, passages_of_chinese_are_refused) {
  Example chinese = example();
  chinese.language = "zh";
  EXPECT_TRUE(snippets_of(chinese).ok());
  EXPECT_THAT(snippets_of(chinese, {.passage_words = 9}).error().message,
              HasSubstr("example 'e' is Chinese"));
}

TEST(Oracle, is_the_greedy_list_and_loses_short_and_unseen_ones) {
  const auto snippets = snippets_of(example());
  ASSERT_TRUE(snippets.ok());
  const auto list = oracle_list(*snippets, "The cat sat. Yes. They bought a house.", false);
  ASSERT_TRUE(list.ok());
  EXPECT_THAT(*list, ElementsAre(0, 1, 2));
  // "Bob: Yes." has two words between blanks.
  EXPECT_THAT(kept_targets(*list, *snippets, 3), ElementsAre(0, 2));
  EXPECT_THAT(kept_targets(*list, *snippets, 2), ElementsAre(0));
}

TEST(Oracle, empty_words_between_blanks_count) {
  const std::vector<Snippet> snippets = {{{{"", "pm"}}}, {{{" a b", "pm"}}}, {{{"a b c"}}}};
  EXPECT_THAT(kept_targets({0, 1, 2}, snippets, 3), ElementsAre(1));
}

TEST(Oracle, words_of_all_parts_of_a_passage_count) {
  const std::vector<Snippet> snippets = {{{{"Yes.", "Ann"}, {"No.", "Bob"}}},
                                         {{{"Yes."}, {"No."}}}};
  EXPECT_THAT(kept_targets({0, 1}, snippets, 2), ElementsAre(0));
}

TEST(Evidence, is_the_snippets_of_gold_segments) {
  Example one = example();
  EXPECT_THAT(*evidence_list(one), ElementsAre());
  one.evidence = {{3, 3}, {0, 2}, {2, 3}};  // the second segment is blank
  EXPECT_THAT(*evidence_segments(one), ElementsAre(0, 2, 3));
  EXPECT_THAT(*evidence_list(one), ElementsAre(0, 1, 2));
  one.evidence = {{1, 2}};
  EXPECT_THAT(*evidence_segments(one), ElementsAre(2));
  EXPECT_THAT(*evidence_list(one), ElementsAre(1));
}

TEST(Evidence, outside_the_document_is_refused) {
  for (const SegmentSpan span : {SegmentSpan{2, 4}, SegmentSpan{-1, 0}, SegmentSpan{2, 1}}) {
    Example one = example();
    one.evidence = {span};
    const auto refused = evidence_list(one);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("evidence of example 'e' is in segments"));
  }
}

TEST(Ranked, best_first_and_of_equal_scores_the_lower_index) {
  EXPECT_THAT(ranked(std::vector<float>{0.5F, 2.0F, -1.0F, 2.0F, 0.0F}),
              ElementsAre(1, 3, 0, 4, 2));
}

}  // namespace
}  // namespace qfs::ranking
