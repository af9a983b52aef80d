// The parts of DYLE's oracle: its tokenizer, its scorer with all oddities, its greedy search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/greedy_oracle/dyle_oracle.h"
#include "methods/models/greedy_oracle/dyle_rouge.h"
#include "methods/models/greedy_oracle/treebank_tokens.h"

namespace qfs::greedy_oracle {
namespace {

using testing::ElementsAre;

std::string tokens(std::string_view text) {
  std::string joined;
  for (const std::string& token : treebank_tokens(text)) {
    joined += joined.empty() ? "" : " ";
    joined += token;
  }
  return joined;
}

TEST(TreebankTokens, SplitPunctuationCliticsAndContractions) {
  // Expected: NLTKWordTokenizer on the lower-cased sentences, with the quote rules of NLTK 3.6.2.
  EXPECT_EQ(tokens("They'll say \"No, I can't\" (probably)."),
            "they 'll say `` no , i ca n't '' ( probably ) .");
  EXPECT_EQ(tokens("I cannot; we're gonna, it's Ann's."),
            "i can not ; we 're gon na , it 's ann 's .");
  EXPECT_EQ(tokens("$3,000 at 5:30 -- 50% off..."), "$ 3,000 at 5:30 -- 50 % off ...");
  EXPECT_EQ(tokens("What?! 'Tis gimme"), "what ? ! 't is gim me");
  EXPECT_EQ(tokens("“Yes” she said"), "“ yes ” she said");
}

TEST(TreebankTokens, SplitTheFullStopOfEverySentenceButNotOfAbbreviations) {
  EXPECT_EQ(tokens("He left. She stayed."), "he left . she stayed .");
  EXPECT_EQ(tokens("Dr. Li came at 5 p.m. on Monday."), "dr. li came at 5 p.m. on monday .");
}

TEST(TreebankTokens, LeaveTranscriptsThatAreSplitAlready) {
  EXPECT_EQ(tokens("Okay , {vocalsound} I see ."), "okay , { vocalsound } i see .");
}

struct Scores {
  std::optional<double> of(std::string_view reference, std::vector<std::string> units) {
    metrics::InternTable words;
    DyleRouge rouge(words);
    rouge.set_reference(cut_at_dots(reference, words));
    std::vector<DottedText> texts;
    for (const std::string& unit : units) texts.push_back(cut_at_dots(unit, words));
    std::vector<const DottedText*> pointers;
    for (const DottedText& text : texts) pointers.push_back(&text);
    return rouge.score(pointers);
  }
};

double f(double precision, double recall) {
  return 2.0 * ((precision * recall) / (precision + recall + 1e-8));
}

TEST(DyleRouge, NgramsAreClippedAndLcsIsASetOfWords) {
  // Candidate "a a b", reference "a b a": 3 of 3 unigrams; bigrams aa ab against ab ba: 1 of 2.
  // From the corner, equal table entries step back in the candidate, so the LCS found is "a a" and
  // not "a b": one distinct word of two on either side.
  const double expected = (f(1, 1) + f(0.5, 0.5) + f(0.5, 0.5)) / 3;
  EXPECT_NEAR(*Scores().of("a b a", {"a a b"}), expected, 1e-15);
}

TEST(DyleRouge, WordsOfAllSentencePairsAreUnited) {
  EXPECT_NEAR(*Scores().of("x y", {"y x"}), (f(1, 1) + 0 + f(0.5, 0.5)) / 3, 1e-15);
  EXPECT_NEAR(*Scores().of("x y", {"y . x"}), (f(1, 1) + 0 + f(1, 1)) / 3, 1e-15);
}

TEST(DyleRouge, BigramsCrossSentencesAndEveryDotCuts) {
  // "3.5 is" is the stream 3 5 is, so it has the reference's bigrams "3 5" and "5 is".
  EXPECT_NEAR(*Scores().of("3 5 is", {"3.5 is"}), *Scores().of("3 5 is", {"3 . 5 is"}), 0);
}

TEST(DyleRouge, APieceOfBlanksIsTheEmptyWord) {
  // "a . . b": a, the empty word, b: three words of which two match.
  EXPECT_NEAR(*Scores().of("a b", {"a . . b"}), (f(2.0 / 3, 1) + 0 + f(2.0 / 3, 1)) / 3, 1e-15);
  // The same blank piece where one unit ends with a dot and the next begins with one.
  EXPECT_EQ(Scores().of("a b", {"a .", ". b"}), Scores().of("a b", {"a . . b"}));
}

TEST(DyleRouge, AUnitWithoutAFinalDotRunsIntoTheNext) {
  EXPECT_EQ(Scores().of("x y", {"y", "x"}), Scores().of("x y", {"y x"}));
  EXPECT_EQ(Scores().of("x y", {"y .", "x"}), Scores().of("x y", {"y . x"}));
}

TEST(DyleRouge, ASideWithoutSentencesHasNoScore) {
  EXPECT_FALSE(Scores().of("a b", {"..."}));
  EXPECT_FALSE(Scores().of("", {"a"}));
}

TEST(DyleOracle, AddsUnitsWhileTheScoreRisesAndReturnsDocumentOrder) {
  const std::vector<std::string> units = {"on the mat .", "what ?", "the cat sat", ".", ""};
  EXPECT_THAT(dyle_oracle(units, "on the mat . the cat sat ."), ElementsAre(0, 2));
}

TEST(DyleOracle, TheEarliestOfEqualUnitsWins) {
  EXPECT_THAT(dyle_oracle({"z", "a b", "a b"}, "a b"), ElementsAre(1));
}

TEST(DyleOracle, ReleasedIndicesPointAtTheFirstEqualText) {
  EXPECT_THAT(released_indices({"yes", "no", "yes", "no"}, {1, 2, 3}), ElementsAre(1, 0, 1));
}

}  // namespace
}  // namespace qfs::greedy_oracle
