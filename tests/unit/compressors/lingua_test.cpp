// Which tokens are kept, on losses made by hand.
#include "methods/compressors/lingua.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

namespace qfs::compressors {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

/// Tokens are foreseen but for these.
TokenLosses surprised_by(std::map<int32_t, double> losses) {
  return [losses](std::span<const int32_t> ids, int64_t first) -> Result<std::vector<double>> {
    std::vector<double> found;
    for (size_t t = static_cast<size_t>(first); t < ids.size(); ++t) {
      const auto one = losses.find(ids[t]);
      found.push_back(one == losses.end() ? 0.1 : one->second);
    }
    return found;
  };
}

std::vector<int32_t> counted(int32_t last) {
  std::vector<int32_t> ids(static_cast<size_t>(last));
  std::iota(ids.begin(), ids.end(), 1);
  return ids;
}

TEST(Lingua, exactly_keeps_what_surprises_in_each_window) {
  const auto kept = keep_exactly({.ids = counted(10), .target = 4, .window = 5},
                                 surprised_by({{2, 3.0}, {4, 2.0}, {7, 1.0}, {10, 5.0}, {9, 4.0}}));
  ASSERT_TRUE(kept.ok());
  EXPECT_THAT(*kept, ElementsAre(2, 4, 9, 10));
}

TEST(Lingua, exactly_keeps_the_earlier_of_equals_and_hits_every_target) {
  const TokenLosses even = surprised_by({});
  EXPECT_THAT(*keep_exactly({.ids = counted(7), .target = 3, .window = 7}, even),
              ElementsAre(1, 2, 3));
  for (int64_t target = 0; target <= 23; ++target) {
    const auto kept = keep_exactly({.ids = counted(23), .target = target, .window = 5}, even);
    EXPECT_EQ(static_cast<int64_t>(kept->size()), target);
  }
  EXPECT_EQ(keep_exactly({.ids = counted(4), .target = 9, .window = 5}, even)->size(), 4U);
}

TEST(Lingua, exactly_reads_later_windows_behind_what_was_kept) {
  std::vector<std::vector<int32_t>> read;
  const TokenLosses losses = [&](std::span<const int32_t> ids, int64_t first) {
    read.emplace_back(ids.begin(), ids.end());
    return surprised_by({{2, 1.0}})(ids, first);
  };
  ASSERT_TRUE(
      keep_exactly({.begin = 99, .ids = counted(6), .target = 2, .window = 3}, losses).ok());
  EXPECT_THAT(read, ElementsAre(ElementsAre(99, 1, 2, 3), ElementsAre(99, 2, 4, 5, 6)));
}

TEST(Lingua, the_tool_keeps_the_token_before_a_surprising_one) {
  const auto kept = keep_as_released({.ids = counted(40), .target = 4, .window = 20},
                                     surprised_by({{7, 9.0}, {15, 8.0}}));
  ASSERT_TRUE(kept.ok());
  EXPECT_THAT(*kept, Contains(6));
  EXPECT_THAT(*kept, Contains(14));
  EXPECT_THAT(*kept, Not(Contains(7)));
  EXPECT_THAT(*kept, Not(Contains(15)));
}

TEST(Lingua, the_tool_leaves_a_rest_whole_and_a_short_text_alone) {
  const TokenLosses even = surprised_by({});
  const auto kept = keep_as_released({.ids = counted(30), .target = 3, .window = 20}, even);
  ASSERT_TRUE(kept.ok());
  EXPECT_GT(kept->size(), 9U);
  EXPECT_EQ(kept->back(), 30);
  EXPECT_GE(keep_as_released({.ids = counted(12), .target = 1, .window = 20}, even)->size(), 11U);
  EXPECT_THAT(*keep_as_released({.target = 3}, even), IsEmpty());
}

TEST(Lingua, the_tool_goes_on_with_the_most_surprising_texts) {
  // Means by text: the second's is largest, then the fourth's and the first's, which are equal.
  LinguaTask task{.ids = counted(400), .target = 10, .texts = {100, 100, 100, 100}};
  const TokenLosses losses = surprised_by({{5, 2.0}, {105, 4.0}, {305, 2.0}});
  const auto chosen = [&](int64_t target) {
    task.target = target;
    return texts_as_released(task, losses)->texts.size();
  };
  // 100 tokens and one in front: 110 are left after none, 9 after one, less than none after two.
  const auto two = texts_as_released(task, losses);
  ASSERT_TRUE(two.ok());
  EXPECT_THAT(two->texts, ElementsAre(100, 100));
  EXPECT_EQ(two->ids.size(), 200U);
  EXPECT_EQ(two->ids.front(), 1) << "the earlier of equals, in its place";
  EXPECT_EQ(two->ids[100], 101);
  EXPECT_EQ(two->target, 10);
  EXPECT_EQ(chosen(0), 1U);    // 100 - 101 is below 0
  EXPECT_EQ(chosen(1), 2U);    // 101 - 101 is not
  EXPECT_EQ(chosen(101), 2U);  // 201 - 202
  EXPECT_EQ(chosen(102), 3U);
  EXPECT_EQ(chosen(1000), 4U);
  task.texts = {400};
  EXPECT_EQ(chosen(0), 1U) << "nothing is left out of one";
}

TEST(Lingua, errors_of_the_model_come_out) {
  const TokenLosses broken = [](std::span<const int32_t>, int64_t) -> Result<std::vector<double>> {
    return invalid_argument("too long");
  };
  EXPECT_FALSE(keep_exactly({.ids = counted(3), .target = 1}, broken).ok());
  EXPECT_FALSE(keep_as_released({.ids = counted(3), .target = 1}, broken).ok());
  EXPECT_FALSE(texts_as_released({.ids = counted(3), .texts = {1, 2}}, broken).ok());
}

}  // namespace
}  // namespace qfs::compressors
