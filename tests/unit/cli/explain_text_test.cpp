// score --explain-diff: how a difference is shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cli/analysis_text.h"

namespace qfs::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ExplainText, NamesDifferencesInWords) {
  score::ExplainedDifference explained;
  explained.differences = {{"stem", "porter-nltk", "none"}, {"gmean", "", "1-2-L"}};
  const std::string text = explain_text(explained);
  EXPECT_THAT(text, HasSubstr("stemming (stem)\n  A: porter-nltk\n  B: none"));
  EXPECT_THAT(text, HasSubstr("  A: (nothing)\n  B: 1-2-L"));
  EXPECT_THAT(text, HasSubstr("Given the texts as well"));
}

TEST(ExplainText, ShowsFValuesTimesAHundredAndCountsNowhere) {
  score::ExplainedDifference explained;
  explained.with_texts = true;
  explained.a = {{"rouge1.f", 0.5}, {"rouge1.p", 0.4}, {"bleu#hyp", 7}};
  explained.b = {{"rouge1.f", 0.25}, {"rouge1.p", 0.4}, {"bleu#hyp", 7}};
  explained.contributions = {{"stem", {{"rouge1.f", -0.25}}, {{"rouge1.f", -0.25}}}};
  const std::string text = explain_text(explained);
  EXPECT_THAT(text, HasSubstr("50.0000"));
  EXPECT_THAT(text, HasSubstr("-25.0000"));
  EXPECT_THAT(text, Not(HasSubstr("rouge1.p")));
  EXPECT_THAT(text, Not(HasSubstr("#hyp")));
}

}  // namespace
}  // namespace qfs::cli
