// The selectors on documents that are small enough to compute by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "methods/extractive/selectors.h"
#include "methods/models/retrieval/bm25.h"
#include "tests/support/extractive_fixture.h"

namespace qfs::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Indices of the sentences in a method's order of preference; every segment is one sentence.
std::vector<size_t> order_of(std::unique_ptr<retrieval::Selector> selector,
                             const Example& example) {
  std::vector<retrieval::Passage> passages;
  for (const Segment& segment : example.document) {
    passages.push_back({{}, segment.text, segment.speaker});
  }
  EXPECT_TRUE(selector->prepare(passages, retrieval::Script::latin).ok());
  const auto order = selector->select(example);
  EXPECT_TRUE(order.ok());
  return order.ok() ? *order : std::vector<size_t>{};
}

SessionRequest request_for(const ExtractiveRun& run) {
  SessionRequest request;
  request.params = resolved_params(run);
  request.seed = run.seed;
  return request;
}

std::vector<size_t> bm25_order(const Example& example, ExtractiveRun run = {.method = "bm25"}) {
  return order_of(retrieval::make_bm25_selector(request_for(run)), example);
}

TEST(Random, DrawsByKeyAndSeedNotByPosition) {
  std::vector<std::string> segments;
  for (int i = 0; i < 30; ++i)
    segments.push_back("Word" + std::string(1, static_cast<char>('a' + i % 26)) +
                       std::to_string(i) + ".");
  Example first = make_example(segments);
  Example second = first;
  second.key = "example-2";
  const ExtractiveRun run{.method = "random", .params = {{"max_words", int64_t{10}}}, .seed = 5};
  const auto both = summarize_all(run, {first, second});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ((*both)[1].text, summarize(run, second).text);
  EXPECT_NE((*both)[0].text, (*both)[1].text);
  ExtractiveRun other_seed = run;
  other_seed.seed = 6;
  EXPECT_NE(summarize(other_seed, first).text, (*both)[0].text);
}

TEST(Bm25, RareQueryTermsCountMoreThanCommonOnes) {
  const Example example =
      make_example({"the plan", "the cat", "the budget", "the dog"}, "What is the budget?");
  EXPECT_THAT(bm25_order(example), ElementsAre(2, 0, 1, 3));
}

TEST(Bm25, ShorterSentencesWinAmongEqualMatches) {
  const Example example =
      make_example({"we saw one budget in a very long sentence", "budget now"}, "budget");
  EXPECT_THAT(bm25_order(example), ElementsAre(1, 0));
  EXPECT_THAT(bm25_order(example, {.method = "bm25", .params = {{"b", 0.0}}}), ElementsAre(0, 1));
}

TEST(Bm25, RepeatedTermsSaturateWithK1) {
  // With k1 = 0 the frequency does not count, so the two tie and keep document order.
  const Example example = make_example({"budget x", "budget budget", "y z"}, "budget");
  EXPECT_THAT(bm25_order(example), ElementsAre(1, 0, 2));
  EXPECT_THAT(bm25_order(example, {.method = "bm25", .params = {{"k1", 0.0}}}),
              ElementsAre(0, 1, 2));
}

TEST(Bm25, MatchesStemsAndTheSpeakersName) {
  EXPECT_THAT(bm25_order(make_example({"we walked", "they design"}, "designing")),
              ElementsAre(1, 0));
  EXPECT_THAT(bm25_order(make_example({"Ann: yes", "Marketing: yes"}, "What did Marketing say?")),
              ElementsAre(1, 0));
}

TEST(Bm25, AQueryThatMatchesNothingGivesTheLead) {
  const std::vector<std::string> segments = {"one", "two", "three"};
  EXPECT_THAT(bm25_order(make_example(segments, "zebra")), ElementsAre(0, 1, 2));
  EXPECT_THAT(bm25_order(make_example(segments, "")), ElementsAre(0, 1, 2));
}

TEST(TextRank, PrefersTheSentenceThatMostOthersResemble) {
  const Example example = make_example({"red car stops", "red car and blue bike meet",
                                        "blue bike goes", "entirely unrelated words"});
  const auto order =
      order_of(extractive::make_textrank_selector(request_for({.method = "textrank"})), example);
  EXPECT_THAT(order, ElementsAre(1, 0, 2, 3));
}

TEST(TextRank, ScoresFollowThePapersEquation) {
  // Two sentences of two words that share one: similarity 1 / (2 ln 2) both ways, so each passes
  // its whole score on and both stay at 1 > 1 - d: the loner in front comes last.
  const Example example = make_example({"alone here", "x y", "y z"});
  EXPECT_THAT(
      order_of(extractive::make_textrank_selector(request_for({.method = "textrank"})), example),
      ElementsAre(1, 2, 0));
}

TEST(TextRank, DoesNotReadTheQuery) {
  Example example = make_example({"a b c d.", "b c d e.", "x y."}, "x y");
  const std::string with_query = summarize({.method = "textrank"}, example).text;
  example.query = "";
  EXPECT_EQ(summarize({.method = "textrank"}, example).text, with_query);
}

TEST(TextRank, OneWordSentencesAreNotDividedByZero) {
  const Example example = make_example({"yes", "yes", "yes we can"});
  EXPECT_THAT(
      order_of(extractive::make_textrank_selector(request_for({.method = "textrank"})), example),
      ElementsAre(2, 0, 1));
}

TEST(Oracle, TakesTheSentencesThatBuildTheReference) {
  const Example example = make_example({"The cat sat.", "Nothing here.", "On the mat."}, "",
                                       {"the cat sat on the mat"});
  EXPECT_EQ(summarize({.method = "oracle"}, example).text, "The cat sat.\nOn the mat.");
}

TEST(Oracle, StopsWhenNothingImproves) {
  const Example example =
      make_example({"The cat.", "The dog ran far away today."}, "", {"the cat"});
  EXPECT_EQ(summarize({.method = "oracle"}, example).text, "The cat.");
}

TEST(Oracle, LeavesOutASentenceThatDoesNotFitAndTakesOneThatDoes) {
  const Example example = make_example({"One two three four five six.", "Seven eight."}, "",
                                       {"one two three four five six", "seven eight"});
  const ExtractiveRun run{.method = "oracle", .params = {{"max_words", int64_t{5}}}};
  // The first sentence's first five words score 0.91 + 0.89, the second sentence 1 + 1 in two
  // words; then five words do not fit into the three that are left.
  EXPECT_EQ(summarize(run, example).text, "Seven eight.");
}

TEST(Oracle, CutsASentenceThatIsLongerThanTheWholeLimit) {
  const Example example = make_example({"One two three four five six seven."}, "",
                                       {"one two three four five six seven"});
  const Prediction prediction =
      summarize({.method = "oracle", .params = {{"max_words", int64_t{5}}}}, example);
  EXPECT_EQ(prediction.text, "One two three four five");
  EXPECT_EQ(prediction.finish, FinishReason::length);
}

TEST(Oracle, TakesAtMostTheGivenNumberOfSentences) {
  const Example example =
      make_example({"The cat sat.", "On the mat."}, "", {"the cat sat on the mat"});
  EXPECT_EQ(
      summarize({.method = "oracle", .params = {{"max_sentences", int64_t{1}}}}, example).text,
      "The cat sat.");
}

TEST(Oracle, WithoutReferencesItIsAnError) {
  for (const char* method : {"oracle", "oracle_dyle"}) {
    const auto result = summarize_all({.method = method}, {make_example({"A b."})});
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().message, HasSubstr("example 'example-1' has none")) << method;
  }
}

TEST(Oracle, WithoutAWordInCommonItTakesNothing) {
  const Example example = make_example({"The cat sat.", "On the mat."}, "", {"dogs bark"});
  for (const char* method : {"oracle", "oracle_dyle"}) {
    EXPECT_EQ(summarize({.method = method}, example).text, "") << method;
  }
}

TEST(OracleDyle, EmitsWholeTurnsOneALineWithoutALimit) {
  const Example example = make_example({"A: The cat sat . It slept .", "B: yes", "C: on the mat ."},
                                       "", {"the cat sat on the mat ."});
  EXPECT_EQ(summarize({.method = "oracle_dyle"}, example).text,
            "The cat sat . It slept .\non the mat .");
}

}  // namespace
}  // namespace qfs::test
