// RougeScorer: cases whose values follow from the definition by hand, and refused input. Comparison
// with rouge_score itself: tests/conformance/metrics.
#include "metrics/rouge/rouge_scorer.h"

#include <gtest/gtest.h>

namespace qfs::metrics {
namespace {

RougeScores score(std::string_view reference, std::string_view candidate) {
  RougeScorer scorer({.stem = false});
  return scorer.score(scorer.encode(reference), scorer.encode(candidate));
}

std::string repeated(std::string_view word, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += word;
  return text;
}

TEST(RougeScorer, CountsClippedUnigramsAndBigrams) {
  const RougeScores scores = score("the cat the", "the the the the");
  EXPECT_DOUBLE_EQ(scores.rouge1.precision, 2.0 / 4);
  EXPECT_DOUBLE_EQ(scores.rouge1.recall, 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.rouge1.f, 4.0 / 7);
  EXPECT_EQ(scores.rouge2, Prf{});
}

TEST(RougeScorer, UnionOfSubsequencesIsClippedByTheCandidate) {
  // Lin 2004, section 3.2: w1 w2 from the first sentence and w1 w3 w5 from the second unite to
  // four.
  const RougeScores scores = score("w1 w2 w3 w4 w5", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5");
  EXPECT_DOUBLE_EQ(scores.rougeLsum.recall, 4.0 / 5);
  EXPECT_DOUBLE_EQ(scores.rougeLsum.precision, 4.0 / 10);
}

TEST(RougeScorer, OnlySummaryLevelLcsSeesLines) {
  const RougeScores scores = score("b a", "a\nb");
  EXPECT_EQ(scores.rougeL, make_prf(1, 2, 2));
  EXPECT_EQ(scores.rougeLsum, make_prf(2, 2, 2));
}

TEST(RougeScorer, EmptySidesScoreZero) {
  for (const auto& [reference, candidate] :
       {std::pair{"", ""}, {"a b", ""}, {"", "a b"}, {"a b", "!!! -- ?"}}) {
    EXPECT_EQ(score(reference, candidate), RougeScores{}) << reference << " | " << candidate;
  }
}

TEST(RougeScorer, VeryLongRepetitionHasTheExactCounts) {
  const RougeScores scores = score(repeated("word ", 5000), repeated("word ", 20000));
  for (const Prf& prf : {scores.rouge1, scores.rougeL, scores.rougeLsum}) {
    EXPECT_EQ(prf, make_prf(5000, 20000, 5000));
  }
  EXPECT_EQ(scores.rouge2, make_prf(4999, 19999, 4999));
}

TEST(RougeScorer, ScorerForgetsTheReferenceBefore) {
  RougeScorer scorer({.stem = false});
  const EncodedText candidate = scorer.encode("a b c");
  const RougeScores fresh = scorer.score(scorer.encode("a b c d"), candidate);
  scorer.score(scorer.encode("x a y b z c\nc b a x y z z z"), candidate);
  EXPECT_EQ(scorer.score(scorer.encode("a b c d"), candidate), fresh);
}

TEST(RougeScorer, TakesEachVariantFromItsBestReference) {
  RougeScorer scorer({.stem = false});
  const std::vector<std::string> references = {"f e d c b a", "a b c x y z u v"};
  const Result<RougeScores> best = scorer.score_multi(references, "a b c d e f");
  ASSERT_TRUE(best.ok());
  EXPECT_EQ(best->rouge1, make_prf(6, 6, 6));  // the first reference, reversed
  EXPECT_EQ(best->rougeL, make_prf(3, 6, 8));  // the second one, in order
}

TEST(RougeScorer, FirstOfSeveralBestReferencesWins) {
  RougeScorer scorer({.stem = false});
  const std::vector<std::string> references = {"a b c x y z", "a b"};  // F = 1/2 with both
  const Result<RougeScores> best = scorer.score_multi(references, "a b c d e f");
  ASSERT_TRUE(best.ok());
  EXPECT_EQ(best->rouge1, make_prf(3, 6, 6));
}

TEST(RougeScorer, WithoutReferencesItRefuses) {
  RougeScorer scorer;
  const Result<RougeScores> result = scorer.score_multi({}, "a b c");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::invalid_argument);
}

TEST(RougeScorer, ALongTextIsScoredAgainstAShortOne) {
  RougeScorer scorer;
  const int many = 600000;
  const std::string text = repeated("b a ", many / 2);
  const Result<RougeScores> result = scorer.score_multi(std::vector<std::string>{"a b c"}, text);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->rouge1, make_prf(2, many, 3));
  EXPECT_EQ(result->rougeL, make_prf(2, many, 3));
}

TEST(RougeScorer, TwoLongTextsAreRefused) {
  RougeScorer scorer;
  const std::string text = repeated("a ", (1 << 19) + 1);
  const Result<RougeScores> result = scorer.score_multi(std::vector{text}, text);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "the candidate has 524289 tokens and a reference has 524289: texts whose product is "
            "above 2^38 are not scored");
}

TEST(RougeScorer, TwoTextsOfManyLinesAreRefused) {
  RougeScorer scorer;
  const std::string text = repeated("a\n", 1 << 15);
  const Result<RougeScores> result = scorer.score_multi(std::vector{text}, text);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "the candidate has 32769 sentences and a reference has 32769: texts whose product is "
            "above 2^30 are not scored");
}

}  // namespace
}  // namespace qfs::metrics
