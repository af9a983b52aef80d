// Extractive methods on Chinese: who decides the script, what a sentence, a word and a limit are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/core/text/chinese_text.h"
#include "methods/extractive/word_limit.h"
#include "methods/models/retrieval/script.h"
#include "methods/models/retrieval/sentences.h"
#include "metrics/chinese/icu_segmenter.h"
#include "metrics/chinese/zh_text.h"
#include "tests/support/extractive_fixture.h"

namespace qfs::test {
namespace {

using retrieval::Script;
using testing::ElementsAre;
using testing::IsEmpty;

Example chinese_example() {
  Example example =
      make_example({"王芳: 桂花树要不要移走？先看图纸。", "李明: 食堂的价格涨了两块。大家不满意；",
                    "王芳: 充电棚建在东门。桂花树保留！"},
                   "充电棚建在哪里？", {"充电棚建在东门，桂花树保留。"});
  example.language = "zh";
  return example;
}

std::vector<std::string> sentences(std::string_view text) {
  std::vector<std::string> result;
  for (const auto& span : retrieval::split_sentences(text, retrieval::Script::chinese)) {
    result.emplace_back(text.substr(span.begin, span.end - span.begin));
  }
  return result;
}

TEST(Script, IsThatOfTheExamplesLanguage) {
  EXPECT_EQ(retrieval::script_of_language("zh"), retrieval::Script::chinese);
  EXPECT_EQ(retrieval::script_of_language("zh-Hans"), retrieval::Script::chinese);
  EXPECT_EQ(retrieval::script_of_language("en"), retrieval::Script::latin);
  EXPECT_EQ(retrieval::script_of_language("zha"),
            retrieval::Script::latin);  // Zhuang is written in Latin
  EXPECT_EQ(retrieval::script_of_language(""), retrieval::Script::latin);
}

TEST(Script, TheParameterOverridesTheLanguage) {
  Example example = chinese_example();
  const ExtractiveRun run{.method = "bm25",
                          .params = {{"max_words", int64_t{9}}, {"script", std::string("latin")}}};
  EXPECT_NE(summarize(run, example).text, "充电棚建在东门。");
  example.language = "en";
  ExtractiveRun asked = run;
  asked.params.back().second = std::string("chinese");
  EXPECT_THAT(summarize(asked, example).text, testing::HasSubstr("充电棚建在东门。"));
}

TEST(ChineseSentences, EndAtChineseMarksAndNotAtSpacesOrCommas) {
  EXPECT_THAT(sentences("他说：“好。”走了，再见！ 3.5 元；……"),
              ElementsAre("他说：“好。”", "走了，再见！", "3.5 元；"));
  EXPECT_THAT(sentences("\n　　\n"), IsEmpty());
  EXPECT_THAT(sentences("　先看图纸。　"), ElementsAre("先看图纸。"));
}

TEST(ChineseLimits, CountCharacters) {
  EXPECT_EQ(extractive::count_words("充电棚，建。", retrieval::Script::chinese), 6);
  EXPECT_EQ(extractive::first_words("充电棚，建。", 3, retrieval::Script::chinese), "充电棚");
  const ExtractiveRun run{.method = "lead", .params = {{"max_words", int64_t{10}}}};
  const Prediction prediction = summarize(run, chinese_example());
  EXPECT_EQ(prediction.text, "桂花树要不要移走？\n先");
  EXPECT_EQ(prediction.finish, FinishReason::length);
}

TEST(ChineseTerms, Bm25FindsTheSentenceOfTheQuery) {
  const ExtractiveRun run{.method = "bm25", .params = {{"max_words", int64_t{8}}}};
  EXPECT_EQ(summarize(run, chinese_example()).text, "充电棚建在东门。");
}

TEST(ChineseTerms, OraclesTakeTheReferencesSentencesAndNoOthers) {
  const ExtractiveRun oracle{.method = "oracle"};
  EXPECT_EQ(summarize(oracle, chinese_example()).text, "充电棚建在东门。\n桂花树保留！");
  const ExtractiveRun dyle{.method = "oracle_dyle"};
  EXPECT_EQ(summarize(dyle, chinese_example()).text, "充电棚建在东门。桂花树保留！");
}

TEST(ChineseTerms, OneSessionReadsBothScripts) {
  Example english = make_example({"The shed stands by the gate. The tree stays."}, "tree");
  english.language = "en";
  Example chinese = chinese_example();
  chinese.key = "example-2";
  const ExtractiveRun run{.method = "bm25", .params = {{"max_words", int64_t{3}}}};
  const auto predictions = summarize_all(run, {english, chinese, english});
  ASSERT_TRUE(predictions.ok());
  EXPECT_EQ((*predictions)[0].text, "The tree stays.");
  EXPECT_EQ((*predictions)[1].text, "充电棚");
  EXPECT_EQ((*predictions)[2].text, (*predictions)[0].text);
}

// Two users of one rule: what the oracle counts is what rouge-zh counts by default.
TEST(ChineseWords, AreThoseOfRougeZh) {
  const char* const text = "ＡＢＣ公司的GDP涨了3.5%。“好！”他说；\n下周三 公示七天……";
  metrics::ZhTextEncoder encoder(std::make_shared<const metrics::IcuSegmenter>(), {});
  const auto encoded = encoder.encode(text);
  ASSERT_TRUE(encoded.ok());
  std::vector<std::string> expected;
  for (metrics::TokenId id : encoded->tokens) expected.emplace_back(encoder.word(id));
  const auto words = chinese_words(text);
  ASSERT_TRUE(words.ok());
  EXPECT_EQ(*words, expected);
  EXPECT_THAT(words->front(), "abc");
}

TEST(ChineseWords, SurviveIllFormedBytes) {
  const auto words = chinese_words("公\xE5\x8F司\xFF。\xC0");
  ASSERT_TRUE(words.ok());
  EXPECT_FALSE(words->empty());
}

}  // namespace
}  // namespace qfs::test
