// Metric::note: a number that means nothing for its text says so and names the metric that does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/catalog.h"
#include "metrics/text/script_check.h"

namespace qfs::metrics {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string note(std::string_view metric, std::string candidate, std::string reference) {
  ScoreItem item;
  item.candidate = std::move(candidate);
  item.references = {std::move(reference)};
  return std::string((*BuiltinMetrics().make(metric))->note(item));
}

TEST(DropsManyLetters, IsMoreThanAFifth) {
  EXPECT_FALSE(drops_many_letters(""));
  EXPECT_FALSE(drops_many_letters("abcdéfgh"));
  EXPECT_FALSE(drops_many_letters("abcdé"));     // exactly a fifth
  EXPECT_TRUE(drops_many_letters("abcéfghéj"));  // two of nine
  EXPECT_TRUE(drops_many_letters("会议"));
  EXPECT_FALSE(drops_many_letters("🙂🙂🙂 a"));  // no letters
  EXPECT_TRUE(drops_many_letters("отчёт о встрече в Q3"));
}

TEST(LooksUnsegmented, IsManyHanCharactersAWord) {
  EXPECT_TRUE(looks_unsegmented("今天的会议讨论了预算"));
  EXPECT_FALSE(looks_unsegmented("今天 的 会议 讨论 了 预算"));
  EXPECT_FALSE(looks_unsegmented("北京大学"));
  EXPECT_FALSE(looks_unsegmented("the meeting"));
}

TEST(Notes, TheAsciiProfileNamesTheMetricForOtherScripts) {
  EXPECT_THAT(note("rouge", "今天开会", "the meeting"), HasSubstr("rouge-zh"));
  EXPECT_THAT(note("rouge", "the meeting", "今天开会"), HasSubstr("rouge-zh"));
  EXPECT_THAT(note("rouge", "the café", "meeting"), IsEmpty());
  EXPECT_THAT(note("rouge-zh", "今天的会议讨论了预算", "今天"), IsEmpty());
}

TEST(HasOnlySigns, IsSomethingWithoutALetterOrANumber) {
  EXPECT_TRUE(has_only_signs("🙂 👩‍💻 ❤️"));
  EXPECT_TRUE(has_only_signs("— …"));
  EXPECT_FALSE(has_only_signs("🙂 a"));
  EXPECT_FALSE(has_only_signs("会"));
  EXPECT_FALSE(has_only_signs("7"));
  EXPECT_FALSE(has_only_signs(""));
  EXPECT_FALSE(has_only_signs(" \n"));
}

TEST(Notes, TextsOfEmojiAloneAreNamedWhereTheyAreNoWords) {
  for (const char* metric : {"rouge", "ideal", "rouge-1.5.5", "rouge-zh"}) {
    EXPECT_THAT(note(metric, "🎉🎉", "🎉🎉"), HasSubstr("emoji")) << metric;
    EXPECT_THAT(note(metric, "the meeting", "🎉"), HasSubstr("emoji")) << metric;
    EXPECT_THAT(note(metric, "the meeting 🎉", "a meeting"), IsEmpty()) << metric;
  }
  EXPECT_THAT(note("rouge-chinese", "🎉🎉", "🎉🎉"), IsEmpty());  // each is a word there
}

TEST(Notes, UnsegmentedChineseIsNamedWhereWordsNeedSpaces) {
  const char* const text = "今天的会议讨论了预算";
  EXPECT_THAT(note("rouge-chinese", text, text), HasSubstr("segmenter=jieba"));
  EXPECT_THAT(note("pltrdy-rouge", text, text), HasSubstr("segmenter=jieba"));
  EXPECT_THAT(note("longbench", text, text), HasSubstr("language=zh"));
  EXPECT_THAT(note("rouge-zh:segmenter=pretok", text, text), HasSubstr("segmenter=icu"));
  EXPECT_THAT(note("rouge-zh:segmenter=char", text, text), IsEmpty());
}

}  // namespace
}  // namespace qfs::metrics
