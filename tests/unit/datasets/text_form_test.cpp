// The forms of meetings: `raw`, `ideal` and `dyle`.
#include "datasets/text_forms/text_form.h"

#include <gtest/gtest.h>

#include "datasets/text_forms/word_tokens.h"
#include "harness/core/text/unicode_forms.h"

namespace qfs::datasets {
namespace {

TEST(IdealForm, LowersTokenizesAndRemovesMarksFromTurns) {
  const TextForm* form = find_text_form("ideal");
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->versioned_name(), "ideal@1");
  EXPECT_EQ(form->turn("{vocalsound} Okay , I'd say {disfmarker} yes. {gap}"),
            "okay , i 'd say yes .");
  EXPECT_EQ(form->turn("{pause}"), "");
  EXPECT_EQ(form->speaker("Project Manager"), "project manager");
}

TEST(IdealForm, RewritesSpelledAcronymsInTurnsAndQueries) {
  const TextForm* form = find_text_form("ideal");
  EXPECT_EQ(form->query("What about the L_C_D_ and the A_M_I_ T_V_ P_M_S?"),
            "what about the lcd and the ami tv pms ?");
}

TEST(IdealForm, ReferencesKeepMarksAndAcronyms) {
  const TextForm* form = find_text_form("ideal");
  EXPECT_EQ(form->reference("The L_C_D_ {gap}."), "the l_c_d_ { gap } .");
}

TEST(DyleForm, IsIdealsButForOneMark) {
  const TextForm* form = find_text_form("dyle");
  const TextForm* ideal = find_text_form("ideal");
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->versioned_name(), "dyle@2");
  EXPECT_EQ(form->turn("{vocalsound} The A_M_I_ {disfmarker} L_C_D_ {pause} P_M_S "
                       "{nonvocalsound} T_V_ {gap}"),
            "the ami lcd pms tv");
  EXPECT_EQ(form->query("Why {comment}?"), "why { comment } ?");
  EXPECT_EQ(ideal->query("Why {comment}?"), "why ?");
  EXPECT_EQ(form->reference("The T_V_ {gap}."), "the t_v_ { gap } .");
  EXPECT_EQ(form->speaker("Marketing"), "marketing");
  // NLTK 3.6.2, which DYLE names, has no clitic 'n.
  EXPECT_EQ(form->turn("rock 'n roll"), "rock ' n roll");
  EXPECT_EQ(ideal->turn("rock 'n roll"), "rock 'n roll");
}

TEST(RawForm, ChangesNothing) {
  const TextForm* form = find_text_form("raw");
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->turn("{gap}  A  "), "{gap}  A  ");
  EXPECT_EQ(find_text_form("rwa"), nullptr);
}

TEST(LowerCase, IsFullAndIndependentOfTheLocale) {
  EXPECT_EQ(lower_case("\u00C9T\u00C9 \u0130 \u03A3\u0391\u03A3"),
            "\u00E9t\u00E9 i\u0307 \u03C3\u03B1\u03C2");
}

}  // namespace
}  // namespace qfs::datasets
