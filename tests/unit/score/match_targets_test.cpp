// score --match: what a target says, and which values have its digits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/score/match.h"

namespace qfs::score {
namespace {

using testing::HasSubstr;

TEST(MatchTargets, AreColumnsWithDigitsAsPrinted) {
  const auto targets = parse_match_targets("rouge1=33.52,rougeL.r=29.6")->front();
  EXPECT_TRUE(targets[0].any_statistic);
  EXPECT_FALSE(targets[1].any_statistic);
  EXPECT_EQ(targets[0].column, "rouge1.f");
  EXPECT_EQ(targets[0].decimals, 2);
  EXPECT_TRUE(targets[0].matches(0.33519));
  EXPECT_TRUE(targets[0].matches(0.33525)) << "on the edge";
  EXPECT_FALSE(targets[0].matches(0.33526));
  EXPECT_EQ(targets[1].column, "rougeL.r");
  EXPECT_TRUE(targets[1].matches(0.2964));
  EXPECT_EQ(parse_match_targets("rouge1=0.335,rouge2=0.1")->front()[0].scale, 1);
}

TEST(MatchTargets, AreOfOneFamilyEach) {
  const auto families = *parse_match_targets("bleu=12.3,rouge1=33.5,bertscore=0.881,chrf=0.9");
  ASSERT_EQ(families.size(), 4U);
  EXPECT_EQ(families[0][0].scale, 100);
  EXPECT_EQ(families[1][0].column, "bleu");
  EXPECT_TRUE(families[1][0].matches(12.3)) << "sacreBLEU's values are of 100";
  EXPECT_EQ(families[2][0].scale, 1) << "and so is a small one";
  EXPECT_EQ(families[3][0].column, "bertscore.f");
  EXPECT_EQ(families[3][0].scale, 1) << "whatever ROUGE beside it is of";
}

TEST(MatchTargets, WrongOnesAreNamed) {
  const auto message = [](std::string_view text) {
    return parse_match_targets(text).error().message;
  };
  EXPECT_THAT(message("rouge_1=1"), HasSubstr("did you mean 'rouge1'"));
  EXPECT_THAT(message("rouge1"), HasSubstr("column=value"));
  for (const char* wrong :
       {"rouge1=", "rouge1=-1", "rouge1=1e1", "rouge1=nan", "rouge1=101", "rouge1=1.2.3"}) {
    EXPECT_FALSE(parse_match_targets(wrong).ok()) << wrong;
  }
  EXPECT_THAT(message("rouge1=1,rouge1.f=2"), HasSubstr("twice"));
  EXPECT_THAT(message("bleu.f=1"), HasSubstr("unknown column 'bleu.f'"));
  EXPECT_THAT(message("blue=1"), HasSubstr("did you mean 'bleu'"));
  EXPECT_FALSE(parse_match_targets("").ok());
}

}  // namespace
}  // namespace qfs::score
