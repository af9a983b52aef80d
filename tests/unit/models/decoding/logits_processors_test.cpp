// Which tokens may come next: repeated n-grams, minimum lengths, forced tokens.
#include "methods/models/decoding/logits_processors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace qfs::decoding {
namespace {

using ::testing::ElementsAre;

/// Ids that are left, of 6 equal scores.
std::vector<int> left(const DecodingOptions& options, const std::vector<int32_t>& sequence,
                      int64_t produced) {
  std::vector<float> scores(6, 1.5F);
  apply_logits_processors(options, sequence, produced, scores);
  std::vector<int> ids;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isfinite(scores[i])) ids.push_back(static_cast<int>(i));
  }
  return ids;
}

TEST(LogitsProcessors, without_any_all_tokens_stay) {
  EXPECT_THAT(left({}, {1, 1, 1}, 3), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(LogitsProcessors, an_ngram_of_the_sequence_is_not_completed_again) {
  DecodingOptions options;
  options.no_repeat_ngram = 3;
  EXPECT_THAT(left(options, {1, 2, 3, 1, 2, 4, 1, 2}, 8), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(left(options, {1, 2}, 2), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(left(options, {1, 1, 1}, 3), ElementsAre(0, 2, 3, 4, 5));  // it may overlap
  options.no_repeat_ngram = 1;
  EXPECT_THAT(left(options, {1, 5}, 2), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(left(options, {9, -1}, 2), ElementsAre(0, 1, 2, 3, 4, 5));  // of another vocabulary
}

TEST(LogitsProcessors, a_repetition_penalty_takes_each_token_of_the_sequence_once) {
  // transformers 5.23, RepetitionPenaltyLogitsProcessor: score * p below 0, score / p from 0.
  DecodingOptions options;
  options.repetition_penalty = 1.25;
  std::vector<float> scores = {2, -2, 0, 5, -1, 1};
  apply_logits_processors(options, std::vector<int32_t>{0, 1, 1, 2, 0, 9, -1}, 3, scores);
  EXPECT_THAT(scores, ElementsAre(1.6F, -2.5F, 0, 5, -1, 1));
}

TEST(LogitsProcessors, no_end_before_the_minimum) {
  DecodingOptions options;
  options.min_new_tokens = 2;
  options.stop_ids = {0, 4};
  EXPECT_THAT(left(options, {3}, 1), ElementsAre(1, 2, 3, 5));
  EXPECT_THAT(left(options, {3, 3}, 2), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(LogitsProcessors, forced_tokens_leave_nothing_else_and_cost_nothing) {
  DecodingOptions options;
  options.max_new_tokens = 4;
  options.forced_first = 5;
  options.forced_last = 2;
  options.stop_ids = {2};
  options.min_new_tokens = 4;  // a forced end comes all the same
  EXPECT_THAT(left(options, {}, 0), ElementsAre(5));
  EXPECT_THAT(left(options, {5}, 1), ElementsAre(0, 1, 3, 4, 5));
  EXPECT_THAT(left(options, {5, 1, 1}, 3), ElementsAre(2));
  std::vector<float> scores(6, 1.5F);
  apply_logits_processors(options, {}, 0, scores);
  EXPECT_EQ(scores[5], 0);
  options.ignore_stops = true;
  EXPECT_THAT(left(options, {5, 1, 1}, 3), ElementsAre(0, 1, 3, 4, 5));
}

}  // namespace
}  // namespace qfs::decoding
