// porter_nltk_stem: one test a step and one a deviation of NLTK from Porter 1980. Examples of the
// steps are those of the paper; 50,000 more words are compared with NLTK in
// tests/conformance/metrics.
#include <gtest/gtest.h>

#include "metrics/text/porter_stemmer.h"

namespace qfs::metrics {
namespace {

TEST(PorterStemmer, Step1RemovesPluralsAndParticiples) {
  EXPECT_EQ(porter_nltk_stem("caresses"), "caress");
  EXPECT_EQ(porter_nltk_stem("ponies"), "poni");
  EXPECT_EQ(porter_nltk_stem("cats"), "cat");
  EXPECT_EQ(porter_nltk_stem("feed"), "feed");
  EXPECT_EQ(porter_nltk_stem("plastered"), "plaster");
  EXPECT_EQ(porter_nltk_stem("sing"), "sing");
  EXPECT_EQ(porter_nltk_stem("hopping"), "hop");
  EXPECT_EQ(porter_nltk_stem("falling"), "fall");
  EXPECT_EQ(porter_nltk_stem("filing"), "file");
}

TEST(PorterStemmer, Steps2To5RemoveDerivationalSuffixes) {
  EXPECT_EQ(porter_nltk_stem("generalizations"), "gener");
  EXPECT_EQ(porter_nltk_stem("hopefulness"), "hope");
  EXPECT_EQ(porter_nltk_stem("replacement"), "replac");
  EXPECT_EQ(porter_nltk_stem("adoption"), "adopt");
  EXPECT_EQ(porter_nltk_stem("controlling"), "control");
  EXPECT_EQ(porter_nltk_stem("rate"), "rate");
  EXPECT_EQ(porter_nltk_stem("cease"), "ceas");
}

TEST(PorterStemmer, NltkKeepsItsIrregularForms) {
  EXPECT_EQ(porter_nltk_stem("skies"), "sky");
  EXPECT_EQ(porter_nltk_stem("dying"), "die");
  EXPECT_EQ(porter_nltk_stem("news"), "news");
  EXPECT_EQ(porter_nltk_stem("innings"), "inning");
  EXPECT_EQ(porter_nltk_stem("succeed"), "succeed");
}

TEST(PorterStemmer, NltkTreatsFourLetterIesAndIedApart) {
  EXPECT_EQ(porter_nltk_stem("dies"), "die");
  EXPECT_EQ(porter_nltk_stem("flies"), "fli");
  EXPECT_EQ(porter_nltk_stem("died"), "die");
  EXPECT_EQ(porter_nltk_stem("spied"), "spi");
}

TEST(PorterStemmer, NltkTurnsYToIOnlyAfterAConsonantOfALongerStem) {
  EXPECT_EQ(porter_nltk_stem("happy"), "happi");
  EXPECT_EQ(porter_nltk_stem("enjoy"), "enjoy");
  EXPECT_EQ(porter_nltk_stem("spy"), "spi");
}

TEST(PorterStemmer, NltkTakesAlliFirstAndRepeatsTheStep) {
  EXPECT_EQ(porter_nltk_stem("conditionalli"), "condit");
  EXPECT_EQ(porter_nltk_stem("hopefulli"), "hope");
  EXPECT_EQ(porter_nltk_stem("geologi"), "geolog");
}

TEST(PorterStemmer, DigitsCountAsConsonants) { EXPECT_EQ(porter_nltk_stem("1980s"), "1980"); }

TEST(PorterStemmer, OneAndTwoLettersStay) {
  EXPECT_EQ(porter_nltk_stem("s"), "s");
  EXPECT_EQ(porter_nltk_stem("as"), "as");
  EXPECT_EQ(porter_nltk_stem(""), "");
}

}  // namespace
}  // namespace qfs::metrics
