// Runs of common text: what is marked in which of two texts, and by which scores.
#include "harness/score/text_matches.h"

#include <gtest/gtest.h>

#include "metrics/chinese/rouge_zh_entry.h"
#include "metrics/option_parser.h"

namespace qfs::score {
namespace {

constexpr const char* kRouge =
    "rouge|compat:rouge_score-0.1.2|tok:ascii|lc:unicode|stem:porter-nltk|split:newline|v:1";

std::vector<std::pair<std::string, int>> marked(std::string_view text,
                                                const std::vector<MatchRun>& runs) {
  std::vector<std::pair<std::string, int>> parts;
  size_t at = 0;
  for (const MatchRun& run : runs) {
    parts.emplace_back(text.substr(at, run.bytes), run.bits);
    at += run.bytes;
  }
  EXPECT_EQ(at, text.size());
  return parts;
}

TEST(TextMatches, PairsReachOverWhatIsBetweenTheirTokens) {
  const std::string prediction = "They moved: the café’s budget.";
  const std::string reference = "The budget moves the cafés.";
  const auto matches = TextMatches::of_signature(kRouge)->match(prediction, reference);
  ASSERT_TRUE(matches.ok());
  using Parts = std::vector<std::pair<std::string, int>>;
  EXPECT_EQ(marked(prediction, matches->prediction), (Parts{{"They ", 0},
                                                            {"moved", 7},
                                                            {": ", 2},
                                                            {"the", 7},
                                                            {" ", 2},
                                                            {"caf", 7},
                                                            {"é’", 2},
                                                            {"s", 7},
                                                            {" ", 0},
                                                            {"budget", 1},
                                                            {".", 0}}));
  EXPECT_EQ(marked(reference, matches->reference), (Parts{{"The ", 0},
                                                          {"budget", 1},
                                                          {" ", 0},
                                                          {"moves", 7},
                                                          {" ", 2},
                                                          {"the", 7},
                                                          {" ", 2},
                                                          {"caf", 7},
                                                          {"é", 2},
                                                          {"s", 7},
                                                          {".", 0}}));
}

TEST(TextMatches, AreThereForScoresOverTheTokensOfRougeScoreOnly) {
  EXPECT_NE(TextMatches::of_signature(
                "ideal|compat:rouge_score-0.1.2|tok:ascii|lc:unicode|stem:porter-nltk|split:punkt"),
            nullptr);
  EXPECT_EQ(TextMatches::of_signature("rouge-1.5.5|variants:1|tok:ascii|lc:ascii|stem:porter|"),
            nullptr);
  EXPECT_EQ(TextMatches::of_signature("rouge-zh|tok:jieba"), nullptr);
}

TEST(TextMatches, OfChineseAreTheSegmentersWords) {
  const auto metric = metrics::rouge_zh_entry().make(
      *metrics::read_options(metrics::rouge_zh_entry().options, "", "segmenter=char", "rouge-zh"));
  ASSERT_TRUE(metric.ok());
  const auto matches = TextMatches::of_signature((*metric)->signature());
  ASSERT_NE(matches, nullptr);
  // Full-width letters and a ligature are what they are in form KC; punctuation is no word.
  const std::string prediction = "会议。讨论ＡＢ";
  const std::string reference = "讨论会：ab ﬁ";
  const auto found = matches->match(prediction, reference);
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  using Parts = std::vector<std::pair<std::string, int>>;
  EXPECT_EQ(marked(prediction, found->prediction),
            (Parts{{"会", 1}, {"议。", 0}, {"讨论", 7}, {"ＡＢ", 5}}));
  EXPECT_EQ(marked(reference, found->reference),
            (Parts{{"讨论", 7}, {"会", 1}, {"：", 0}, {"ab", 5}, {" ﬁ", 0}}));
  EXPECT_EQ(TextMatches::of_signature("rouge-zh|seg:icu|icu:1.0|icudata:1.0|case:fold|nfkc:on|"
                                      "punct:drop|sent:zh|stem:none|"),
            nullptr)
      << "another version of the dictionary";
}

TEST(TextMatches, StemAsTheScoreDoes) {
  const auto plain =
      TextMatches::of_signature("rouge|tok:ascii|lc:unicode|stem:none|split:newline");
  const auto matches = plain->match("moved", "moves");
  ASSERT_TRUE(matches.ok());
  EXPECT_EQ(matches->prediction, (std::vector<MatchRun>{{5, 0}}));
}

}  // namespace
}  // namespace qfs::score
