// How many tries a frontier takes, and that predictions never decide.
#include "harness/run/length_search.h"

#include <gtest/gtest.h>

namespace qfs::run {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

/// Memory of a process at a length; beyond the limit it fails.
struct Machine {
  int64_t model = 0;
  double bytes_per_token = 0;
  double bytes_per_pair = 0;  ///< grows with the square
  int64_t limit = 0;

  int64_t peak(int64_t length) const {
    const auto tokens = static_cast<double>(length);
    return model + static_cast<int64_t>(tokens * (bytes_per_token + tokens * bytes_per_pair));
  }
};

LengthSearch searched(const Machine& machine, SearchBounds bounds) {
  bounds.limit_bytes = machine.limit;
  bounds.model_bytes = machine.model;
  LengthSearch search(bounds);
  while (const auto length = search.next()) {
    EXPECT_GE(*length, 1);
    EXPECT_LE(*length, bounds.to);
    EXPECT_LT(search.tries(), 60);
    if (machine.peak(*length) <= machine.limit) {
      search.fits(*length, machine.peak(*length));
    } else {
      search.fails(*length);
    }
  }
  return search;
}

TEST(LengthSearch, FindsTheLastLengthThatFits) {
  const Machine machine{100 * kMebibyte, 4096, 0, 500 * kMebibyte};
  const LengthSearch search = searched(machine, {.from = 64, .to = 1'000'000, .within = 0});
  EXPECT_EQ(search.largest_fit(), 102'400);
  EXPECT_EQ(search.smallest_failure(), 102'401);
}

TEST(LengthSearch, BeginsLowerWhereTheFirstLengthDoesNotFit) {
  const Machine machine{100 * kMebibyte, 4096 * 100, 0, 150 * kMebibyte};
  const LengthSearch search = searched(machine, {.from = 1000, .to = 1'000'000, .within = 0});
  EXPECT_EQ(search.largest_fit(), 128);
  EXPECT_EQ(search.smallest_failure(), 129);
  const Machine small{100 * kMebibyte, 4096, 0, 100 * kMebibyte};
  const LengthSearch none = searched(small, {.from = 64, .to = 1'000});
  EXPECT_EQ(none.largest_fit(), 0);
  EXPECT_EQ(none.smallest_failure(), 1);
}

TEST(LengthSearch, APredictionOfLinearGrowthSavesTries) {
  const Machine machine{100 * kMebibyte, 4096, 0, 500 * kMebibyte};
  EXPECT_LE(searched(machine, {.from = 64, .to = 1'000'000}).tries(), 6);
}

TEST(LengthSearch, GrowthWithTheSquareIsFoundAllTheSame) {
  const Machine machine{10 * kMebibyte, 100, 2, 500 * kMebibyte};
  const LengthSearch search = searched(machine, {.from = 16, .to = 1'000'000, .within = 0});
  EXPECT_LE(machine.peak(search.largest_fit()), machine.limit);
  EXPECT_GT(machine.peak(search.largest_fit() + 1), machine.limit);
  EXPECT_EQ(search.smallest_failure(), search.largest_fit() + 1);
}

TEST(LengthSearch, EndsAtTheBoundsAndAtAFirstFailure) {
  const Machine roomy{0, 1, 0, 500 * kMebibyte};
  const LengthSearch all = searched(roomy, {.from = 64, .to = 1000});
  EXPECT_EQ(all.largest_fit(), 1000);
  EXPECT_EQ(all.smallest_failure(), 0);
  const Machine full{0, 8.0 * kMebibyte, 0, kMebibyte};
  const LengthSearch none = searched(full, {.from = 64, .to = 1000});
  EXPECT_EQ(none.largest_fit(), 0);
  EXPECT_EQ(none.tries(), 7) << "64, 32, … 1";
}

TEST(LengthSearch, WithoutALimitItDoublesAndHalves) {
  LengthSearch search({.from = 10, .to = 1000, .within = 0.1});
  int64_t last = 0;
  for (const int64_t expected : {10, 20, 40, 80}) {
    last = *search.next();
    EXPECT_EQ(last, expected);
    if (last < 80) search.fits(last, 0);
  }
  search.fails(last);
  EXPECT_EQ(search.next(), 60);
}

}  // namespace
}  // namespace qfs::run
