// nearest_name and suggestion: which mistyped names are recognised.
#include "harness/core/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace qfs {
namespace {

const std::vector<std::string> kMethods = {"lead", "bm25", "textrank", "oracle", "oracle_dyle"};

TEST(NearestName, FindsEditsOfAThirdOfTheLongerName) {
  EXPECT_EQ(nearest_name("textrnk", kMethods), "textrank");     // one missing
  EXPECT_EQ(nearest_name("text_rannk", kMethods), "textrank");  // two inserted
  EXPECT_EQ(nearest_name("txtrenkk", kMethods), std::nullopt);  // three of eight
}

TEST(NearestName, CountsASwapOfNeighboursAsOneEdit) {
  EXPECT_EQ(nearest_name("laed", kMethods), "lead");
  EXPECT_EQ(nearest_name("bm52", kMethods), "bm25");
}

TEST(NearestName, IgnoresTheCaseOfAsciiLetters) {
  EXPECT_EQ(nearest_name("BM25", kMethods), "bm25");
  EXPECT_EQ(nearest_name("LEAD", kMethods), "lead");
}

TEST(NearestName, TakesAPrefixInEitherDirection) {
  EXPECT_EQ(nearest_name("text", kMethods), "textrank");
  EXPECT_EQ(nearest_name("lead_3_sentences", kMethods), "lead");
  EXPECT_EQ(nearest_name("t", kMethods), std::nullopt);  // one letter says nothing
}

TEST(NearestName, PrefersTheSmallestDistanceThenTheFirst) {
  EXPECT_EQ(nearest_name("oracl", kMethods), "oracle");
  const std::vector<std::string> tied = {"abcd", "abce"};
  EXPECT_EQ(nearest_name("abcf", tied), "abcd");
}

TEST(NearestName, HasNoAnswerForUnrelatedEmptyOrEndlessNames) {
  EXPECT_EQ(nearest_name("zero_shot", kMethods), std::nullopt);
  EXPECT_EQ(nearest_name("", kMethods), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(1'000'000, 'l'), kMethods), std::nullopt);
  EXPECT_EQ(nearest_name("lead", {}), std::nullopt);
}

TEST(Suggestion, NamesTheNearestElseListsFewElseNothing) {
  EXPECT_EQ(suggestion("laed", kMethods), " (did you mean 'lead'?)");
  EXPECT_EQ(suggestion("quux", kMethods), " (valid: lead, bm25, textrank, oracle, oracle_dyle)");
  const std::vector<std::string> many = {"a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8", "i9"};
  EXPECT_EQ(suggestion("quux", many), "");
  EXPECT_EQ(suggestion("quux", {}), "");
}

}  // namespace
}  // namespace qfs
