// Postprocess: what each step does, how chains are written, and messages for wrong ones.
#include "harness/core/postprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace qfs {
namespace {

using testing::HasSubstr;
using Steps = std::vector<std::string>;

Postprocess chain(const Steps& steps) {
  auto parsed = Postprocess::parse(steps);
  EXPECT_TRUE(parsed.ok()) << parsed.error().to_string();
  return parsed.ok() ? *std::move(parsed) : Postprocess();
}

std::string processed(const std::string& step, const std::string& text) {
  const auto result = chain({step}).prediction(text);
  return result.ok() ? *result : result.error().to_string();
}

std::string fault(const std::string& step) {
  const auto parsed = Postprocess::parse(Steps{step});
  return parsed.ok() ? "" : parsed.error().message;
}

TEST(Postprocess, StripSpecialDeletesTextsInOrder) {
  EXPECT_EQ(processed("strip_special", "<s>a b</s><pad><pad>"), "a b");
  EXPECT_EQ(processed("strip_special", "<<pad>s>x<|im_end|>"), "x");  // "<s>" is made, then deleted
  EXPECT_EQ(processed("strip_special:texts=[X]  [Y]", "[X]<s>[Y]"), "<s>");
}

TEST(Postprocess, StripReasoning) {
  EXPECT_EQ(processed("strip_reasoning", "a<think>b</think>c<think>d</think>e"), "ace");
  EXPECT_EQ(processed("strip_reasoning", "a<think>b"), "a");
  EXPECT_EQ(processed("strip_reasoning", "b</think>\nc"), "\nc");
  EXPECT_EQ(processed("strip_reasoning", "no tags"), "no tags");
  EXPECT_EQ(processed("strip_reasoning:tag=plan", "<plan>x</plan><think>y"), "<think>y");
}

TEST(Postprocess, ReplaceIsARegularExpressionOfIcu) {
  EXPECT_EQ(processed("replace:pattern=^Answer:\\s*", "Answer:  yes"), "yes");
  EXPECT_EQ(processed("replace:pattern=(\\w+) (\\w+),with=$2 $1", "a b"), "b a");
  EXPECT_EQ(processed("replace:pattern=\\p{Han},with=x", "a\u4E2Db"), "axb");
  EXPECT_EQ(processed("replace:pattern=a\\,b,with=\\,", "a,b"), ",");
}

TEST(Postprocess, TheOtherSteps) {
  EXPECT_EQ(processed("cut_at:text=\n\nQ:", "yes\n\nQ: next\n\nQ: more"), "yes");
  EXPECT_EQ(processed("cut_at:text=zzz", "yes"), "yes");
  EXPECT_EQ(processed("delete_prefix:text=Summary: ", "Summary: Summary: a"), "Summary: a");
  EXPECT_EQ(processed("newlines:mark=<q>", "a<q>b<q>"), "a\nb\n");
  EXPECT_EQ(processed("first_lines", "\n\r\na b\nc"), "a b");
  EXPECT_EQ(processed("first_lines:count=2", "a\n\nb"), "a\n");
  EXPECT_EQ(processed("first_lines:count=9", "a\nb\n"), "a\nb\n");
  EXPECT_EQ(processed("strip", " \u00A0\na b\u3000\n"), "a b");
  EXPECT_EQ(processed("strip", " \n"), "");
  EXPECT_EQ(processed("squeeze_spaces", "a \t b \n\n c\u00A0"), "a b\nc ");
  EXPECT_EQ(processed("lowercase", "\u00C9A \u0130"), "\u00E9a i\u0307");
}

TEST(Postprocess, StepsRunInOrderAndReferencesOnlyWhereStated) {
  const Postprocess both = chain({"lowercase:to=both", "cut_at:text=x"});
  EXPECT_EQ(*both.prediction("AXB"), "a");
  EXPECT_EQ(*both.reference("AXB"), "axb");
  EXPECT_EQ(*chain({"cut_at:text=x", "lowercase"}).prediction("AXB"), "axb");
}

TEST(Postprocess, TheChainIsCanonical) {
  EXPECT_EQ(Postprocess().chain().text, "[]");
  EXPECT_EQ(chain({"strip_special"}).chain().text, R"(["strip_special"])");
  EXPECT_EQ(chain({"strip_reasoning:to=predictions,tag=think"}).chain().text,
            R"(["strip_reasoning"])");
  EXPECT_EQ(chain({"replace:to=both,with=\\,,pattern=a"}).chain().text,
            R"(["replace:pattern=a,with=\\,,to=both"])");
  const Json written = chain({"replace:to=both,with=\\,,pattern=a", "strip"}).chain();
  EXPECT_EQ(Postprocess::of_chain(written)->chain().text, written.text);
  for (const char* broken : {"{}", "[1]", "[", "[\"no_such_step\"]"}) {
    EXPECT_FALSE(Postprocess::of_chain(Json{broken}).ok()) << broken;
  }
}

TEST(Postprocess, WrongChainsNameTheNearest) {
  EXPECT_THAT(fault("strip_specials"), HasSubstr("did you mean 'strip_special'?"));
  EXPECT_THAT(fault("replace:patern=a"), HasSubstr("did you mean 'pattern'?"));
  EXPECT_THAT(fault("replace"), HasSubstr("'pattern' must be given"));
  EXPECT_THAT(fault("replace:pattern=("), HasSubstr("U_REGEX_MISMATCHED_PAREN"));
  EXPECT_THAT(fault("replace:pattern=a,b"), HasSubstr("'b' is not of the form"));
  EXPECT_THAT(fault("strip:"), HasSubstr("no parameter follows"));
  EXPECT_THAT(fault("strip:to=references"), HasSubstr("expected predictions or both"));
  EXPECT_THAT(fault("cut_at:text=a,text=b"), HasSubstr("given twice"));
  EXPECT_THAT(fault("first_lines:count=0"), HasSubstr("from 1 to 1000000"));
  EXPECT_FALSE(Postprocess::parse(Steps(65, "strip")).ok());
}

TEST(Postprocess, APatternThatExplodesIsATimeOut) {
  const auto result = chain({"replace:pattern=(a|aa)+c"}).prediction(std::string(200, 'a'));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::timeout);
}

TEST(Postprocess, AGroupThatThePatternLacksIsAnErrorAtTheFirstMatch) {
  const Postprocess chain_of_one = chain({"replace:pattern=a,with=$2"});
  EXPECT_EQ(*chain_of_one.prediction("b"), "b");
  EXPECT_EQ(chain_of_one.prediction("a").error().kind, ErrorKind::invalid_argument);
}

TEST(Postprocess, IllFormedTextStaysAsItIs) { EXPECT_EQ(processed("lowercase", "A\xFF"), "A\xFF"); }

TEST(Postprocess, EveryStepIsDocumented) {
  for (const PostprocessStep& step : postprocess_steps()) {
    EXPECT_FALSE(step.doc.empty()) << step.name;
    for (const PostprocessParameter& parameter : step.parameters) {
      EXPECT_FALSE(parameter.doc.empty()) << step.name << ":" << parameter.name;
    }
  }
}

}  // namespace
}  // namespace qfs
