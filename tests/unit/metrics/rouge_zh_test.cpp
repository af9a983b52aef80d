// rouge-zh: which words are compared under each segmenter and switch, on texts that tell them
// apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/catalog.h"
#include "metrics/chinese/zh_text.h"
#include "tests/support/jieba_folder.h"

namespace qfs::test {
namespace {

using namespace metrics;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kRouge1P = 0;
constexpr size_t kRouge1R = 1;
constexpr size_t kRouge1F = 2;
constexpr size_t kRougeLsumF = 11;

Statistics row(std::string_view metric, std::string candidate, std::string reference) {
  const auto made = BuiltinMetrics().make(metric);
  EXPECT_TRUE(made.ok()) << made.error().to_string();
  ScoreItem item;
  item.candidate = std::move(candidate);
  item.references = {std::move(reference)};
  const auto rows = (*made)->measure(std::span(&item, 1));
  EXPECT_TRUE(rows.ok()) << rows.error().to_string();
  return rows->front();
}

// The same sentence about a graduate, with one word less, one more, and other punctuation.
constexpr const char* kCandidate = "小明硕士毕业于中国科学院计算所，GDP增长5.2%。";
constexpr const char* kReference = "小明毕业于中国科学院，GDP增长了5.2%！";

TEST(RougeZh, TheAsciiProfileSeesThreeTokensOfAChineseSentence) {
  const Statistics values = row("rouge", kCandidate, kReference);  // gdp 5 2
  EXPECT_EQ(values[kRouge1P], 1);
  EXPECT_EQ(values[kRouge1R], 1);
}

TEST(RougeZh, CharactersCountOneByOne) {
  // 15 Han, gdp, 增, 长, 5, 2 against 10 Han, gdp, 增, 长, 了, 5, 2; 15 in common.
  const Statistics values = row("rouge-zh:segmenter=char", kCandidate, kReference);
  EXPECT_DOUBLE_EQ(values[kRouge1P], 15.0 / 20);
  EXPECT_DOUBLE_EQ(values[kRouge1R], 15.0 / 16);
}

TEST(RougeZh, KeptPunctuationCounts) {
  // ， . % in common; 。 and ！ not.
  const Statistics values = row("rouge-zh:segmenter=char,punctuation=keep", kCandidate, kReference);
  EXPECT_DOUBLE_EQ(values[kRouge1P], 18.0 / 24);
  EXPECT_DOUBLE_EQ(values[kRouge1R], 18.0 / 20);
}

TEST(RougeZh, TextWithoutSpacesIsOneWordForPretok) {
  EXPECT_EQ(row("rouge-zh:segmenter=pretok", kCandidate, kReference)[kRouge1F], 0);
  EXPECT_DOUBLE_EQ(row("rouge-zh:segmenter=pretok", "小明 毕业 。", "小明 硕士 毕业")[kRouge1F],
                   0.8);
}

TEST(RougeZh, IcuFindsTheCommonWords) {
  const Statistics values = row("rouge-zh", kCandidate, kReference);
  EXPECT_GT(values[kRouge1F], 0.5);
  EXPECT_LT(values[kRouge1F], 1);
}

TEST(RougeZh, JiebaFindsTheWordsOfItsDictionary) {
  const JiebaFolder jieba;
  // 小明/研究/人工智能 has 人工, 智能 apart (人工智能 has frequency 0); 研究生/命 loses to
  // 研究/生命.
  const Statistics values =
      row("rouge-zh:segmenter=jieba", "小明研究生命的起源。", "小明研究人工智能");
  EXPECT_DOUBLE_EQ(values[kRouge1P], 2.0 / 5);
  EXPECT_DOUBLE_EQ(values[kRouge1R], 2.0 / 4);
}

// Full-width forms are others until NFKC makes them one.
TEST(RougeZh, FullWidthFormsAreOneUnderNfkcOnly) {
  const char* const full = "ＡＢＣ １２３ abc";
  const char* const plain = "ABC 123 abc";
  EXPECT_EQ(row("rouge-zh", full, plain)[kRouge1F], 1);
  const Statistics kept = row("rouge-zh:segmenter=char,nfkc=off", full, plain);
  EXPECT_DOUBLE_EQ(kept[kRouge1P], 1.0 / 7);
  EXPECT_DOUBLE_EQ(kept[kRouge1R], 1.0 / 3);
  const Statistics ascii = row("rouge", full, plain);
  EXPECT_DOUBLE_EQ(ascii[kRouge1P], 1);
  EXPECT_DOUBLE_EQ(ascii[kRouge1R], 1.0 / 3);
  for (const char* package : {"pltrdy-rouge", "rouge-chinese"}) {
    const Statistics words = row(package, full, plain);
    EXPECT_DOUBLE_EQ(words[kRouge1P], 1.0 / 3) << package;
    EXPECT_DOUBLE_EQ(words[kRouge1R], 1.0 / 3) << package;
  }
}

TEST(RougeZh, CaseIsFoldedUnlessKept) {
  EXPECT_EQ(row("rouge-zh", "GDP", "gdp")[kRouge1F], 1);
  EXPECT_EQ(row("rouge-zh:case=keep", "GDP", "gdp")[kRouge1F], 0);
}

TEST(RougeZh, SentencesDecideTheSummaryLevelScore) {
  // In one sentence the common subsequence keeps one of the two clauses; in two, both.
  const char* const candidate = "甲乙丙。丁戊己。";
  const char* const reference = "丁戊己。甲乙丙。";
  EXPECT_EQ(row("rouge-zh:segmenter=char", candidate, reference)[kRougeLsumF], 1);
  EXPECT_EQ(row("rouge-zh:segmenter=char,sentences=newline", candidate, reference)[kRougeLsumF],
            0.5);
}

TEST(ZhSentences, EndAfterEndMarksAndTheQuotesBehindThem) {
  EXPECT_THAT(split_zh_sentences("他说：“好。”走了！？\n完；", ZhTextOptions::Sentences::chinese),
              ElementsAre("他说：“好。”", "走了！？", "完；"));
  EXPECT_THAT(split_zh_sentences("一。二\n", ZhTextOptions::Sentences::newline),
              ElementsAre("一。二", ""));
}

TEST(RougeZh, NameAndSignatureSayEveryOption) {
  const auto metric = BuiltinMetrics().make("rouge-zh:sentences=newline,segmenter=char,case=keep");
  ASSERT_TRUE(metric.ok());
  EXPECT_EQ((*metric)->name(), "rouge-zh:segmenter=char,case=keep,sentences=newline");
  EXPECT_EQ((*metric)->signature(),
            "rouge-zh|seg:char|case:keep|nfkc:on|punct:drop|sent:newline|stem:none|"
            "multi:max-f-per-metric|agg:mean|v:1");
}

TEST(RougeZh, OptionsOfJiebaBelongToJieba) {
  const auto metric = BuiltinMetrics().make("rouge-zh:hmm=off");
  ASSERT_FALSE(metric.ok());
  EXPECT_EQ(metric.error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(metric.error().message, HasSubstr("belong to segmenter=jieba, not to icu"));
}

}  // namespace
}  // namespace qfs::test
