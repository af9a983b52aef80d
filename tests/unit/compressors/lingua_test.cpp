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

/// Foresees all tokens but those with losses of their own.
class SurprisedBy final : public SmallLm {
 public:
  explicit SurprisedBy(std::map<int32_t, double> losses = {}, int64_t positions = 1000)
      : losses_(std::move(losses)), positions_(positions) {}

  int64_t positions() const override { return positions_; }
  Result<std::vector<double>> losses(std::span<const int32_t> ids, int64_t first,
                                     int64_t) override {
    read.emplace_back(ids.begin(), ids.end());
    std::vector<double> found;
    for (const int32_t id : ids.subspan(static_cast<size_t>(first))) {
      const auto one = losses_.find(id);
      found.push_back(one == losses_.end() ? 0.1 : one->second);
    }
    return found;
  }
  Status forget(int64_t, int64_t) override { return {}; }

  std::vector<std::vector<int32_t>> read;

 private:
  std::map<int32_t, double> losses_;
  int64_t positions_;
};

std::vector<int32_t> counted(int32_t last) {
  std::vector<int32_t> ids(static_cast<size_t>(last));
  std::iota(ids.begin(), ids.end(), 1);
  return ids;
}

TEST(Lingua, exactly_keeps_what_surprises_in_each_window) {
  SurprisedBy model({{2, 3.0}, {4, 2.0}, {7, 1.0}, {10, 5.0}, {9, 4.0}});
  const auto kept = keep_exactly({.ids = counted(10), .target = 4, .window = 5}, model);
  ASSERT_TRUE(kept.ok());
  EXPECT_THAT(*kept, ElementsAre(2, 4, 9, 10));
}

TEST(Lingua, exactly_keeps_the_earlier_of_equals_and_hits_every_target) {
  SurprisedBy even;
  EXPECT_THAT(*keep_exactly({.ids = counted(7), .target = 3, .window = 7}, even),
              ElementsAre(1, 2, 3));
  for (int64_t target = 0; target <= 23; ++target) {
    const auto kept = keep_exactly({.ids = counted(23), .target = target, .window = 5}, even);
    EXPECT_EQ(static_cast<int64_t>(kept->size()), target);
  }
  EXPECT_EQ(keep_exactly({.ids = counted(4), .target = 9, .window = 5}, even)->size(), 4U);
}

TEST(Lingua, exactly_reads_later_windows_behind_what_was_kept) {
  SurprisedBy model({{2, 1.0}});
  ASSERT_TRUE(keep_exactly({.begin = 99, .ids = counted(6), .target = 2, .window = 3}, model).ok());
  EXPECT_THAT(model.read, ElementsAre(ElementsAre(99, 1, 2, 3), ElementsAre(99, 2, 4, 5, 6)));
}

TEST(Lingua, the_tool_keeps_the_token_before_a_surprising_one) {
  SurprisedBy model({{7, 9.0}, {15, 8.0}});
  const auto kept = keep_as_released({.ids = counted(40), .target = 4, .window = 20}, model);
  ASSERT_TRUE(kept.ok());
  EXPECT_THAT(*kept, Contains(6));
  EXPECT_THAT(*kept, Contains(14));
  EXPECT_THAT(*kept, Not(Contains(7)));
  EXPECT_THAT(*kept, Not(Contains(15)));
}

TEST(Lingua, the_tool_leaves_a_rest_whole_and_a_short_text_alone) {
  SurprisedBy even;
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
  SurprisedBy losses({{5, 2.0}, {105, 4.0}, {305, 2.0}});
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

TEST(Lingua, the_tool_reads_as_much_at_once_as_the_model_has_positions) {
  SurprisedBy model({}, 50);
  const LinguaTask task{.ids = counted(120), .target = 100, .window = 20, .texts = {60, 60}};
  ASSERT_TRUE(texts_as_released(task, model).ok());
  ASSERT_TRUE(keep_as_released(task, model).ok());
  for (const std::vector<int32_t>& read : model.read) EXPECT_LE(read.size(), 50U);
  LinguaTask wide = task;
  wide.window = 21;
  const auto refused = keep_as_released(wide, model);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "windows of 21 tokens of a text that has more than the 50 positions of the model that "
            "chooses; expected 20 at most");
  wide.ids = counted(49);
  wide.texts = {49};
  EXPECT_TRUE(keep_as_released(wide, model).ok()) << "with the token in front as many";
}

class Broken final : public SmallLm {
 public:
  int64_t positions() const override { return 100; }
  Result<std::vector<double>> losses(std::span<const int32_t>, int64_t, int64_t) override {
    return invalid_argument("too long");
  }
  Status forget(int64_t, int64_t) override { return {}; }
};

TEST(Lingua, errors_of_the_model_come_out) {
  Broken broken;
  EXPECT_FALSE(keep_exactly({.ids = counted(3), .target = 1}, broken).ok());
  EXPECT_FALSE(keep_as_released({.ids = counted(3), .target = 1}, broken).ok());
  EXPECT_FALSE(texts_as_released({.ids = counted(3), .texts = {1, 2}}, broken).ok());
}

}  // namespace
}  // namespace qfs::compressors
