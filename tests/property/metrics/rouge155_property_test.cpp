// The matchers of metrics/rouge155 against slow twins over strings, and limits that must not
// matter.
#include <gtest/gtest.h>

#include <map>

#include "metrics/rouge155/gram_matcher.h"
#include "metrics/rouge155/scorer.h"
#include "tests/support/random_texts.h"

namespace qfs::test {
namespace {

using namespace metrics::rouge155;
using metrics::LocalId;

using Grams = std::map<std::vector<LocalId>, int64_t>;

std::vector<LocalId> random_words(SplitMix64& rng, size_t length, size_t types, bool absent) {
  std::vector<LocalId> ids;
  for (size_t i = 0; i < length; ++i) {
    ids.push_back(static_cast<LocalId>(rng.below(types + (absent ? 1 : 0))));
  }
  return ids;
}

Grams slow_ngrams(const std::vector<LocalId>& text, size_t n) {
  Grams grams;
  for (size_t i = 0; i + n <= text.size(); ++i) {
    ++grams[{text.begin() + static_cast<ptrdiff_t>(i),
             text.begin() + static_cast<ptrdiff_t>(i + n)}];
  }
  return grams;
}

Grams slow_skip_grams(const std::vector<LocalId>& text, int64_t gap, bool unigrams) {
  Grams grams;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (unigrams) ++grams[{text[i]}];
    for (size_t j = i + 1; j < text.size(); ++j) {
      if (gap < 0 || static_cast<int64_t>(j - i) <= gap + 1) ++grams[{text[i], text[j]}];
    }
  }
  return grams;
}

int64_t common(const Grams& a, const Grams& b) {
  int64_t hits = 0;
  for (const auto& [gram, count] : a) {
    if (const auto it = b.find(gram); it != b.end()) hits += std::min(count, it->second);
  }
  return hits;
}

int64_t total(const Grams& grams) {
  int64_t sum = 0;
  for (const auto& [gram, count] : grams) sum += count;
  return sum;
}

TEST(Rouge155Grams, EqualCountingInMaps) {
  SplitMix64 rng(9);
  GramMatcher matcher;
  for (int round = 0; round < 3000; ++round) {
    const size_t types = 1 + rng.below(6);
    const auto reference = random_words(rng, rng.below(25), types, false);
    const auto candidate = random_words(rng, rng.below(25), types, true);
    const auto hits = matcher.ngrams(reference, candidate, static_cast<LocalId>(types), 6);
    for (size_t n = 1; n <= 6; ++n) {
      ASSERT_EQ(hits[n - 1], common(slow_ngrams(reference, n), slow_ngrams(candidate, n)))
          << "round " << round << ", n " << n;
      ASSERT_EQ(ngram_count(candidate.size(), static_cast<int64_t>(n)),
                total(slow_ngrams(candidate, n)));
    }
    const int64_t gap = static_cast<int64_t>(rng.below(7)) - 1;
    for (bool unigrams : {false, true}) {
      const Grams left = slow_skip_grams(candidate, gap, unigrams);
      ASSERT_EQ(
          matcher.skip_grams(reference, candidate, static_cast<LocalId>(types), gap, unigrams),
          common(slow_skip_grams(reference, gap, unigrams), left))
          << "round " << round << ", gap " << gap;
      ASSERT_EQ(skip_gram_count(candidate.size(), gap, unigrams), total(left));
    }
  }
}

/// Every variant there is.
Options all_variants() {
  Options options;
  options.max_n = 4;
  options.weight = Weight{1.2, "1.2"};
  options.skip = SkipGrams{4, "4", SkipUnigrams::also};
  return options;
}

std::vector<Counts> counts(const Options& options, const std::string& candidate,
                           const std::string& reference) {
  Scorer scorer(options, std::make_shared<Lexicon>());
  const std::vector<Summary> references = {scorer.encode(split_lines(reference))};
  return *scorer.counts(scorer.encode(split_lines(candidate)), references);
}

TEST(Rouge155Scorer, ALimitThatNothingReachesChangesNothing) {
  const RandomTexts texts;
  SplitMix64 rng(12);
  for (int round = 0; round < 500; ++round) {
    auto [reference, candidate] = texts.pair(rng);
    reference += " cat";
    Options options = all_variants();
    const std::vector<Counts> free = counts(options, candidate, reference);
    for (LimitUnit unit : {LimitUnit::words, LimitUnit::bytes}) {
      options.limit = {unit, 1'000'000};
      ASSERT_EQ(counts(options, candidate, reference), free) << "round " << round;
    }
  }
}

TEST(Rouge155Scorer, LcsHitsNeverExceedUnigramHitsAndATextHitsItself) {
  const RandomTexts texts;
  SplitMix64 rng(13);
  const Options options = all_variants();
  const std::vector<Variant> list = variants(options);
  for (int round = 0; round < 500; ++round) {
    auto [reference, candidate] = texts.pair(rng);
    reference += " cat";
    const std::vector<Counts> pair = counts(options, candidate, reference);
    EXPECT_LE(pair[4].hits, pair[0].hits);
    const std::vector<Counts> same = counts(options, reference, reference);
    for (size_t v = 0; v < list.size(); ++v) {
      if (list[v].kind == Variant::Kind::weighted_lcs) continue;
      EXPECT_EQ(same[v].hits, same[v].reference) << list[v].label;
    }
  }
}

}  // namespace
}  // namespace qfs::test
