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
  EXPECT_EQ((*snippets)[0], (Snippet{"Ann: The cat sat on the mat.", "The cat sat on the mat."}));
  EXPECT_EQ((*snippets)[1].content, "Yes.");
}

TEST(Snippets, pieces_are_cut_out_of_sentences) {
  const auto snippets = snippets_of(example(), {.piece_words = 4});
  ASSERT_TRUE(snippets.ok());
  std::vector<std::string> contents;
  for (const Snippet& snippet : *snippets) contents.push_back(snippet.content);
  EXPECT_THAT(contents, ElementsAre("the cat sat on", "the mat .", "yes .", "we bought a red",
                                    "house .", "it was cheap ."));
}

TEST(Snippets, passages_are_neighbouring_segments_that_fit_together) {
  const auto passages = [](int64_t words) {
    const auto snippets = snippets_of(example(), {.passage_words = words});
    EXPECT_TRUE(snippets.ok());
    return *snippets;
  };
  // With their speakers these have 7, 2 and 9 words.
  EXPECT_THAT(passages(18),
              ElementsAre(Snippet{"Ann: The cat sat on the mat.\nBob: Yes.\nAnn: We bought a red "
                                  "house. It was cheap.",
                                  "The cat sat on the mat.\nYes.\nWe bought a red house. It was "
                                  "cheap."}));
  EXPECT_THAT(passages(17), ElementsAre(Snippet{"Ann: The cat sat on the mat.\nBob: Yes.",
                                                "The cat sat on the mat.\nYes."},
                                        Snippet{"Ann: We bought a red house. It was cheap.",
                                                "We bought a red house. It was cheap."}));
}

TEST(Snippets, long_segments_are_cut_into_passages_where_a_sentence_ends) {
  const auto texts = [](int64_t words, Example of = example()) {
    std::vector<std::string> texts;
    const auto snippets = snippets_of(of, {.passage_words = words});
    EXPECT_TRUE(snippets.ok());
    for (const Snippet& snippet : *snippets) texts.push_back(snippet.text);
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
  const std::vector<Snippet> snippets = {{"pm: ", ""}, {"pm:  a b", ""}, {"a b c", ""}};
  EXPECT_THAT(kept_targets({0, 1, 2}, snippets, 3), ElementsAre(1));
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
