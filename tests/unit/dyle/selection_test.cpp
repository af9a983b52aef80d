// Which snippets the generator reads: the K best, the hybrid rule, copies that fill up.
#include "methods/dyle/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace qfs::dyle {
namespace {

using ::testing::ElementsAre;
using List = std::vector<int64_t>;

const std::vector<float> kScores = {0.5F, 2.0F, -1.0F, 2.0F, 0.0F};  // best: 1 3 0 4 2
constexpr SelectionRule kPaper = {.k = 3, .copies = false};
constexpr SelectionRule kReleased = {.k = 3, .copies = true};

TEST(Selection, best_first_and_of_equal_scores_the_lower_index) {
  EXPECT_THAT(best_of(kScores, kPaper).snippets, ElementsAre(1, 3, 0));
}

TEST(Selection, fewer_than_k_are_filled_with_copies_of_the_last_as_released) {
  const std::vector<float> two = {0.0F, 1.0F};
  EXPECT_THAT(best_of(two, kPaper).snippets, ElementsAre(1, 0));
  const Selection filled = best_of(two, kReleased);
  EXPECT_THAT(filled.snippets, ElementsAre(1, 0, 0));
  EXPECT_EQ(filled.copies, 1);
  EXPECT_EQ(best_of(kScores, kReleased).copies, 0);
}

TEST(Selection, a_long_oracle_gives_its_first_in_document_order) {
  EXPECT_THAT(for_training(kScores, List{0, 2, 3, 4}, true, kPaper).snippets, ElementsAre(0, 2, 3));
  EXPECT_THAT(for_training(kScores, List{0, 2, 4}, true, kPaper).snippets, ElementsAre(0, 2, 4));
}

TEST(Selection, a_short_oracle_is_followed_by_the_extractors_best) {
  EXPECT_THAT(for_training(kScores, List{2, 3}, true, kPaper).snippets, ElementsAre(2, 3, 1));
}

TEST(Selection, duplicates_of_the_oracle_stay) {
  EXPECT_THAT(for_training(kScores, List{3, 3}, true, kPaper).snippets, ElementsAre(3, 3, 1));
}

TEST(Selection, without_an_oracle_the_extractor_chooses) {
  EXPECT_THAT(for_training(kScores, {}, true, kPaper).snippets, ElementsAre(1, 3, 0));
  EXPECT_THAT(for_training(kScores, {}, false, kReleased).snippets, ElementsAre(1, 3, 0));
}

TEST(Selection, without_the_hybrid_rule_there_are_oracles_alone) {
  EXPECT_THAT(for_training(kScores, List{2}, false, kPaper).snippets, ElementsAre(2));
  const Selection filled = for_training(kScores, List{2}, false, kReleased);
  EXPECT_THAT(filled.snippets, ElementsAre(2, 2, 2));
  EXPECT_EQ(filled.copies, 2);
}

TEST(Selection, k_above_what_there_is_takes_all) {
  const SelectionRule many = {.k = 9, .copies = false};
  EXPECT_EQ(best_of(kScores, many).snippets.size(), 5U);
  EXPECT_EQ(for_training(kScores, List{2}, true, many).snippets, (List{2, 1, 3, 0, 4}));
  EXPECT_EQ(best_of(kScores, {.k = 9, .copies = true}).copies, 4);
}

TEST(Selection, drawn_ones_differ_by_their_stream_and_stand_in_document_order) {
  const Selection first = drawn(40, Rng::derived(1, "snippets", 0), {.k = 5, .copies = false});
  EXPECT_TRUE(std::ranges::is_sorted(first.snippets));
  EXPECT_EQ(first.snippets,
            drawn(40, Rng::derived(1, "snippets", 0), {.k = 5, .copies = false}).snippets);
  EXPECT_NE(first.snippets,
            drawn(40, Rng::derived(1, "snippets", 1), {.k = 5, .copies = false}).snippets);
}

}  // namespace
}  // namespace qfs::dyle
