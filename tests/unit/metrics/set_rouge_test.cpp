// pltrdy-rouge, rouge-chinese and longbench: the quirks by which their numbers differ from ROUGE.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/catalog.h"
#include "tests/support/jieba_folder.h"

namespace qfs::test {
namespace {

using namespace metrics;
using testing::HasSubstr;

Result<std::vector<Statistics>> rows(std::string_view metric, std::string candidate,
                                     std::vector<std::string> references) {
  const auto made = BuiltinMetrics().make(metric);
  if (!made) return made.error();
  ScoreItem item;
  item.candidate = std::move(candidate);
  item.references = std::move(references);
  return (*made)->measure(std::span(&item, 1));
}

Statistics only_row(std::string_view metric, std::string candidate, std::string reference) {
  const auto values = rows(metric, std::move(candidate), {std::move(reference)});
  EXPECT_TRUE(values.ok()) << values.error().to_string();
  return values->front();
}

TEST(SetRouge, RepeatedWordsCountOnce) {
  const Statistics values = only_row("pltrdy-rouge", "the the the the", "the cat the");
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], 0.5);
}

TEST(SetRouge, ATextAgainstItselfIsJustBelowOne) {
  for (const char* package : {"pltrdy-rouge", "rouge-chinese"}) {
    const Statistics values = only_row(package, "a b c", "a b c");
    for (size_t f : {2, 5, 8}) EXPECT_DOUBLE_EQ(values[f], 2.0 / (2 + 1e-8)) << package;
  }
}

TEST(SetRouge, CaseAndPunctuationStay) {
  EXPECT_EQ(only_row("pltrdy-rouge", "Hello, World", "hello World")[0], 0.5);
}

TEST(SetRouge, TheLsDiffer) {
  // pltrdy: each sentence against each, distinct words on any LCS. rouge-chinese: one LCS.
  EXPECT_DOUBLE_EQ(only_row("pltrdy-rouge", "c d . a b", "a b . c d")[6], 1);
  EXPECT_DOUBLE_EQ(only_row("rouge-chinese", "c d . a b", "a b . c d")[6], 2.0 / 5);
}

TEST(SetRouge, ABlankPieceIsAnEmptyWord) {
  // "a. " is the sentences "a" and "", which pltrdy scores as two words.
  EXPECT_EQ(only_row("pltrdy-rouge", "a. ", "a")[0], 0.5);
}

TEST(SetRouge, AnEmptyTextIsAnErrorOrZeroAsDeclared) {
  for (const char* empty : {"", "..."}) {
    const auto refused = rows("pltrdy-rouge", empty, {"a"});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::data);
    EXPECT_THAT(refused.error().message, HasSubstr("empty=zero"));
    EXPECT_EQ(rows("pltrdy-rouge:empty=zero", empty, {"a"})->front(), Statistics(9, 0.0));
    EXPECT_EQ(rows("longbench", empty, {"a"})->front(), Statistics(1, 0.0));
  }
  EXPECT_FALSE(rows("longbench:empty=error", "a", {""}).ok());
}

TEST(LongBench, TheBestAnswerCounts) {
  EXPECT_DOUBLE_EQ((*rows("longbench", "a b", {"x y", "a b", "a"}))[0][0], 2.0 / (2 + 1e-8));
}

TEST(LongBench, ChineseIsScoredOverJiebasWords) {
  const JiebaFolder jieba;
  EXPECT_EQ((*rows("longbench", "北京大学讨论项目", {"中国科学院讨论项目"}))[0][0], 0);
  // 北京大学/讨论/项目 and 中国科学院/讨论/项目
  EXPECT_NEAR((*rows("longbench:language=zh", "北京大学讨论项目", {"中国科学院讨论项目"}))[0][0],
              2.0 / 3, 1e-8);
}

TEST(SetRouge, SignaturesNameThePackage) {
  const BuiltinMetrics catalog;
  EXPECT_EQ(
      (*catalog.make("pltrdy-rouge-1.0.1"))->signature(),
      "pltrdy-rouge|compat:pltrdy-rouge-1.0.1|seg:pretok|case:keep|stem:none|punct:keep|"
      "sent:period|count:sets|L:union|eps:1e-8|empty:error|multi:max-f-per-metric|agg:mean|v:1");
  EXPECT_THAT((*catalog.make("rouge-chinese-1.0.3"))->signature(),
              HasSubstr("compat:rouge-chinese-1.0.3|seg:pretok|"));
  EXPECT_THAT((*catalog.make("longbench"))->signature(), HasSubstr("|empty:zero|"));
}

}  // namespace
}  // namespace qfs::test
