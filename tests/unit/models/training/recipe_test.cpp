// Order of the data, learning rates and micro-batches are functions of the recipe alone.
#include "methods/models/training/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace qfs::training {
namespace {

using ::testing::ElementsAre;

TEST(RecipeTest, an_epoch_reads_every_example_once_and_each_in_another_order) {
  Recipe recipe;
  recipe.batch_size = 4;
  std::vector<int64_t> read;
  for (int64_t step = 0; step < 5; ++step) {
    for (const int64_t item : batch_of(recipe, 10, step)) read.push_back(item);
  }
  std::vector<int64_t> first(read.begin(), read.begin() + 10);
  std::vector<int64_t> second(read.begin() + 10, read.end());
  EXPECT_NE(first, second);
  EXPECT_TRUE(std::ranges::is_permutation(first, second));
  std::ranges::sort(first);
  EXPECT_THAT(first, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_EQ(batch_of(recipe, 10, 3), batch_of(recipe, 10, 3));
  recipe.seed = 1;
  EXPECT_NE(batch_of(recipe, 10, 0), std::vector<int64_t>(read.begin(), read.begin() + 4));
}

TEST(RecipeTest, the_order_of_the_file_goes_on_over_its_end) {
  Recipe recipe;
  recipe.batch_size = 3;
  recipe.order = DataOrder::file;
  EXPECT_THAT(batch_of(recipe, 4, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(batch_of(recipe, 4, 1), ElementsAre(3, 0, 1));
}

TEST(RecipeTest, whole_batches_leave_the_rest_of_an_epoch_unread) {
  Recipe recipe;
  recipe.batch_size = 3;
  recipe.order = DataOrder::file;
  recipe.whole_batches = true;
  EXPECT_EQ(epoch_examples(recipe, 8), 6);
  EXPECT_THAT(batch_of(recipe, 8, 1), ElementsAre(3, 4, 5));
  EXPECT_THAT(batch_of(recipe, 8, 2), ElementsAre(0, 1, 2));
  EXPECT_FALSE(ends_epoch(recipe, 8, 1));
  EXPECT_TRUE(ends_epoch(recipe, 8, 2));
  EXPECT_TRUE(ends_epoch(recipe, 8, 4));
  EXPECT_EQ(epoch_examples(recipe, 2), 3) << "a batch of fewer examples reads some again";
  EXPECT_THAT(batch_of(recipe, 2, 1), ElementsAre(0, 1, 0));
  recipe.order = DataOrder::shuffled;
  EXPECT_NE(batch_of(recipe, 8, 0), batch_of(recipe, 8, 2)) << "each epoch has its own order";
  recipe.whole_batches = false;
  EXPECT_EQ(epoch_examples(recipe, 8), 8);
}

TEST(RecipeTest, learning_rates_rise_and_fall) {
  Recipe recipe;
  recipe.steps = 10;
  recipe.warmup_steps = 2;
  recipe.learning_rate = 1;
  const auto rates = [&](Schedule schedule) {
    recipe.schedule = schedule;
    std::vector<double> all;
    for (const int64_t step : {0, 1, 2, 6, 9}) all.push_back(learning_rate_at(recipe, step));
    return all;
  };
  EXPECT_THAT(rates(Schedule::constant), ElementsAre(0.5, 1, 1, 1, 1));
  recipe.warmup_from_zero = true;
  EXPECT_THAT(rates(Schedule::constant), ElementsAre(0, 0.5, 1, 1, 1));
  recipe.warmup_from_zero = false;
  EXPECT_THAT(rates(Schedule::linear), ElementsAre(0.5, 1, 1, 0.5, 0.125));
  const auto cosine = rates(Schedule::cosine);
  EXPECT_DOUBLE_EQ(cosine[2], 1);
  EXPECT_DOUBLE_EQ(cosine[3], 0.5);
  EXPECT_NEAR(cosine[4], 0.0380602, 1e-6);  // (1 + cos(7 pi / 8)) / 2
}

TEST(RecipeTest, micro_batches_hold_what_fits_the_longest_first) {
  EXPECT_THAT(micro_batches({3, 9, 2, 4}, 6),
              ElementsAre(ElementsAre(1), ElementsAre(3), ElementsAre(0, 2)));
  EXPECT_THAT(micro_batches({1, 1}, 8), ElementsAre(ElementsAre(0, 1)));
}

}  // namespace
}  // namespace qfs::training
