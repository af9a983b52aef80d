// The fast ROUGE against its slow twin (tests/support/slow_rouge.h), and what holds for every pair.
#include <gtest/gtest.h>

#include "metrics/rouge/rouge_scorer.h"
#include "metrics/rouge/union_marks.h"
#include "metrics/text/bit_lcs.h"
#include "tests/support/random_texts.h"
#include "tests/support/slow_rouge.h"

namespace qfs::test {
namespace {

using metrics::BitLcs;
using metrics::LocalId;
using metrics::RougeScorer;

std::vector<LocalId> random_ids(SplitMix64& rng, size_t length, size_t types, size_t absent) {
  std::vector<LocalId> ids;
  for (size_t i = 0; i < length; ++i) {
    ids.push_back(static_cast<LocalId>(rng.below(types + absent)));
    if (ids.back() > types) ids.back() = static_cast<LocalId>(types);
  }
  return ids;
}

Words as_words(const std::vector<LocalId>& ids) {
  Words words;
  for (LocalId id : ids) words.push_back(std::to_string(id));
  return words;
}

TEST(BitLcs, LengthAndBacktrackEqualTheTableForAllShapes) {
  SplitMix64 rng(5);
  BitLcs lcs;
  for (int round = 0; round < 6000; ++round) {
    // Lengths around the 64 rows of a block; few types make ties, one type makes full carries.
    const size_t rows = 1 + rng.below(round % 20 == 0 ? 200 : 30);
    const size_t columns = rng.below(round % 20 == 0 ? 200 : 40);
    const size_t types = 1 + rng.below(8);
    const std::vector<LocalId> reference = random_ids(rng, rows, types, 0);
    const std::vector<LocalId> candidate = random_ids(rng, columns, types, rng.below(3));
    lcs.set_reference(reference, static_cast<LocalId>(types));
    const auto table = lcs_table(as_words(reference), as_words(candidate));
    ASSERT_EQ(lcs.length(candidate), table.back().back()) << "round " << round;

    std::vector<uint64_t> marks(lcs.words(), 0);
    lcs.mark(candidate, marks);
    std::vector<size_t> indices;
    for (size_t row = 0; row < rows; ++row) {
      if ((marks[row / 64] >> row % 64 & 1U) != 0) indices.push_back(row);
    }
    ASSERT_EQ(indices, lcs_indices(as_words(reference), as_words(candidate))) << "round " << round;
  }
}

TEST(UnionMarks, EqualTheUnionOfTheTablesOfAllSentences) {
  SplitMix64 rng(6);
  metrics::UnionMarks union_marks;
  for (int round = 0; round < 4000; ++round) {
    const size_t types = 1 + rng.below(12);
    const size_t rows = 1 + rng.below(round % 4 == 0 ? metrics::UnionMarks::kLongestSentence : 20);
    const std::vector<LocalId> sentence = random_ids(rng, rows, types, 0);
    std::vector<LocalId> candidate;
    std::vector<size_t> ends;
    std::vector<bool> expected(rows, false);
    for (size_t sentences = rng.below(6); sentences-- > 0;) {
      const std::vector<LocalId> other = random_ids(rng, rng.below(30), types, rng.below(20));
      candidate.insert(candidate.end(), other.begin(), other.end());
      ends.push_back(candidate.size());
      for (size_t row : lcs_indices(as_words(sentence), as_words(other))) expected[row] = true;
    }
    union_marks.set_candidate(candidate, ends, static_cast<LocalId>(types));
    const uint64_t marks = union_marks.mark(sentence);
    std::vector<bool> found;
    for (size_t row = 0; row < rows; ++row) found.push_back((marks >> row & 1U) != 0);
    ASSERT_EQ(found, expected) << "round " << round;
  }
}

/// Words w0 … of one to three sentences a text.
std::string numbered_words(SplitMix64& rng, size_t words, size_t types) {
  std::string text;
  for (size_t i = 0; i < words; ++i) {
    text += "w" + std::to_string(rng.below(types)) + (rng.below(100) == 0 ? "\n" : " ");
  }
  return text;
}

TEST(RougeScorer, EqualsTheSlowTwinForManyDistinctWordsAndLongSentences) {
  SplitMix64 rng(8);
  RougeScorer scorer({.stem = false, .split = {}});
  for (int round = 0; round < 60; ++round) {
    // Around the 255 distinct words up to which bigrams have a square table, in any order.
    const size_t types = round % 3 == 0 ? 30 : 200 + rng.below(200);
    const std::string reference = numbered_words(rng, 100 + rng.below(700), types);
    const std::string candidate = numbered_words(rng, 100 + rng.below(300), types + 20);
    ASSERT_EQ(scorer.score(scorer.encode(reference), scorer.encode(candidate)),
              slow_rouge(reference, candidate, false))
        << "round " << round;
  }
}

TEST(RougeScorer, EqualsTheSlowTwinOnRandomTexts) {
  const RandomTexts texts;
  SplitMix64 rng(31);
  for (bool stem : {true, false}) {
    RougeScorer scorer({.stem = stem});
    for (int round = 0; round < 1500; ++round) {
      const auto [reference, candidate] = texts.pair(rng);
      ASSERT_EQ(scorer.score(scorer.encode(reference), scorer.encode(candidate)),
                slow_rouge(reference, candidate, stem))
          << "reference: " << reference << "\ncandidate: " << candidate;
    }
  }
}

TEST(RougeScorer, ATextAgainstItselfIsPerfectAndSidesSwapPrecisionAndRecall) {
  const RandomTexts texts;
  SplitMix64 rng(17);
  RougeScorer scorer;
  for (int round = 0; round < 500; ++round) {
    const auto [first, second] = texts.pair(rng);
    const auto a = scorer.encode(first);
    const auto b = scorer.encode(second);
    if (a.tokens.size() > 1) {
      const auto self = scorer.score(a, a);
      for (const auto& prf : {self.rouge1, self.rouge2, self.rougeL, self.rougeLsum}) {
        EXPECT_EQ(prf.f, 1.0) << first;
      }
    }
    const auto ab = scorer.score(a, b);
    const auto ba = scorer.score(b, a);
    for (auto member : {&metrics::RougeScores::rouge1, &metrics::RougeScores::rouge2,
                        &metrics::RougeScores::rougeL}) {
      EXPECT_EQ((ab.*member).precision, (ba.*member).recall);
      EXPECT_EQ((ab.*member).recall, (ba.*member).precision);
    }
    EXPECT_LE(ab.rougeL.f, ab.rouge1.f);
    EXPECT_LE(ab.rougeLsum.f, ab.rouge1.f);
  }
}

}  // namespace
}  // namespace qfs::test
