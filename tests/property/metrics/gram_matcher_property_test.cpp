// GramMatcher against its slow twin, sorted counts.
#include <gtest/gtest.h>

#include "metrics/text/gram_counts.h"
#include "metrics/text/gram_matcher.h"
#include "tests/support/random_texts.h"

namespace qfs::metrics {
namespace {

/// How often the n-grams of both occur in both: the sum of the smaller counts.
template <size_t kLongest>
int64_t common_grams(const std::vector<CountedGram<kLongest>>& a,
                     const std::vector<CountedGram<kLongest>>& b) {
  int64_t common = 0;
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (i->gram < j->gram) {
      ++i;
    } else if (j->gram < i->gram) {
      ++j;
    } else {
      common += std::min(i->times, j->times);
      ++i;
      ++j;
    }
  }
  return common;
}

/// Per n-gram of either the larger count, in ascending order.
template <size_t kLongest>
std::vector<CountedGram<kLongest>> larger_counts(const std::vector<CountedGram<kLongest>>& a,
                                                 const std::vector<CountedGram<kLongest>>& b) {
  std::vector<CountedGram<kLongest>> merged;
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && i->gram < j->gram)) {
      merged.push_back(*i++);
    } else if (i == a.end() || j->gram < i->gram) {
      merged.push_back(*j++);
    } else {
      merged.push_back({i->gram, std::max(i->times, j->times)});
      ++i;
      ++j;
    }
  }
  return merged;
}

using Ids = GramMatcher::Ids;
constexpr size_t kOrders = 6;

int64_t slow_matches(const Ids& candidate, const std::vector<Ids>& references, size_t n) {
  std::vector<CountedGram<kOrders>> allowed;
  for (const Ids& reference : references) {
    allowed = larger_counts(allowed, counted_grams<kOrders>(reference, n));
  }
  return common_grams(counted_grams<kOrders>(candidate, n), allowed);
}

/// Few small ids, so that n-grams repeat, and now and then one as large as ids get.
Ids random_grams(test::SplitMix64& rng, uint64_t letters) {
  Ids ids;
  for (uint64_t left = rng.below(40); left > 0; --left) {
    const bool large = rng.below(10) == 0;
    ids.push_back(static_cast<uint32_t>(large ? 0xFFFFFFFF - rng.below(2) : rng.below(letters)));
  }
  return ids;
}

TEST(GramMatcher, AgreesWithSortedCounts) {
  test::SplitMix64 rng(20250901);
  GramMatcher matcher;  // the tables of one call do not show in the next
  for (int round = 0; round < 3000; ++round) {
    const uint64_t letters = 1 + rng.below(6);
    const Ids candidate = random_grams(rng, letters);
    std::vector<Ids> references(rng.below(4));
    for (Ids& reference : references) reference = random_grams(rng, letters);
    std::vector<int64_t> matches(kOrders, -1);
    matcher.match(candidate, references, matches);
    for (size_t n = 1; n <= kOrders; ++n) {
      ASSERT_EQ(matches[n - 1], slow_matches(candidate, references, n)) << round << " order " << n;
    }
  }
}

TEST(GramMatcher, CountsAtMostAsOftenAsOneReferenceHasIt) {
  GramMatcher matcher;
  const std::vector<Ids> references = {{1, 1, 2}, {1, 2, 1, 2}};
  std::vector<int64_t> matches(3);
  matcher.match(Ids{1, 1, 1, 2, 2, 2}, references, matches);
  EXPECT_EQ(matches, (std::vector<int64_t>{4, 2, 1}));  // 1 1 2 2; "1 1" "1 2"; "1 1 2"
  matcher.match(Ids{}, references, matches);
  EXPECT_EQ(matches, (std::vector<int64_t>{0, 0, 0}));
  matcher.match(Ids{1}, {}, matches);
  EXPECT_EQ(matches, (std::vector<int64_t>{0, 0, 0}));
}

}  // namespace
}  // namespace qfs::metrics
