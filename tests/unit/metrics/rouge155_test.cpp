// The traps of ROUGE-1.5.5, one test each. Numbers without a source are counted by hand.
#include <gtest/gtest.h>

#include "metrics/rouge155/cyl_stemmer.h"
#include "metrics/rouge155/five_digits.h"
#include "metrics/rouge155/input_format.h"
#include "metrics/rouge155/resampling.h"
#include "metrics/rouge155/scorer.h"

namespace qfs::metrics::rouge155 {
namespace {

std::shared_ptr<Lexicon> lexicon(bool stem) {
  auto lexicon = std::make_shared<Lexicon>();
  lexicon->stem = stem;
  return lexicon;
}

struct Case {
  std::string candidate;
  std::vector<std::string> references;
  Options options;
  std::shared_ptr<const Lexicon> words = lexicon(false);
};

std::vector<Counts> counts(const Case& one) {
  Scorer scorer(one.options, one.words);
  std::vector<Summary> references;
  for (const std::string& text : one.references)
    references.push_back(scorer.encode(split_lines(text)));
  const auto result = scorer.counts(scorer.encode(split_lines(one.candidate)), references);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().to_string());
  return result.ok() ? *result : std::vector<Counts>(variants(one.options).size());
}

Options only_n(int64_t n) {
  Options options;
  options.max_n = n;
  options.lcs = false;
  return options;
}

Options only_skip(int64_t gap, SkipUnigrams unigrams) {
  Options options = only_n(0);
  options.skip = SkipGrams{gap, std::to_string(gap), unigrams};
  return options;
}

TEST(Rouge155Words, EveryByteOutsideLettersAndDigitsSeparates) {
  // Unlike rouge_score, U+212A KELVIN SIGN is no k and U+0130 no i.
  EXPECT_EQ(counts({"state-of-the-art A_1", {"state of the art a 1"}, only_n(1)})[0],
            (Counts{6, 6, 6}));
  EXPECT_EQ(counts({"\xE2\x84\xAA \xC4\xB0stanbul", {"k istanbul"}, only_n(1)})[0],
            (Counts{2, 1, 0}));
  EXPECT_EQ(counts({"-- ... !!", {"x"}, only_n(1)})[0], (Counts{1, 0, 0}));
  EXPECT_EQ(counts({std::string("a\0b", 3), {"a b"}, only_n(1)})[0], (Counts{2, 2, 2}));
}

TEST(Rouge155Words, AnExceptionIsTakenAsItStandsAndNotStemmed) {
  auto words = lexicon(true);
  words->exceptions.lemma_of = {{"better", "well"}, {"cats", "generalizations"}, {"was", "be"}};
  Scorer scorer(only_n(1), words);
  const auto same = [&](const std::string& a, const std::string& b) {
    const std::vector<Summary> references = {scorer.encode({b})};
    return (*scorer.counts(scorer.encode({a}), references))[0].hits == 1;
  };
  EXPECT_TRUE(same("better", "well"));
  EXPECT_FALSE(same("cats", "generalizations"));  // the word itself is stemmed, the lemma is not
  EXPECT_FALSE(same("was", "be"));                // three letters are never looked up
}

TEST(Rouge155Words, StopWordsGoBeforeStemmingByTheirExactForm) {
  auto words = lexicon(true);
  words->stop_words.words = {"running", "The"};
  EXPECT_EQ(counts({"running runs the", {"run the"}, only_n(1), words})[0], (Counts{2, 2, 2}));
}

TEST(Rouge155Stemmer, StepFourMayTakeTwoSuffixes) {
  // ROUGE-1.5.5; the published Porter stemmer gives commission, accident, argument.
  EXPECT_EQ(cyl_stem("commissioner"), "commiss");
  EXPECT_EQ(cyl_stem("accidentally"), "accid");
  EXPECT_EQ(cyl_stem("argument"), "argum");
  EXPECT_EQ(cyl_stem("yyyy"), "yyyi");
}

TEST(Rouge155Limits, WordsCountThePieceBeforeALeadingBlank) {
  const Limit three{LimitUnit::words, 3};
  EXPECT_EQ(limited({"a b c d"}, three), (Sentences{"a b c"}));
  EXPECT_EQ(limited({" a b c d"}, three), (Sentences{" a b"}));
  EXPECT_EQ(limited({"a", " b c", "d"}, three), (Sentences{"a", " b"}));
  EXPECT_EQ(limited({"   ", "a b", "c"}, three), (Sentences{"   ", "a b", "c"}));
}

TEST(Rouge155Limits, BytesAreNotAddedUpInTheLcsReader) {
  const Limit five{LimitUnit::bytes, 5};
  EXPECT_EQ(limited({"abc", "def", "ghi"}, five), (Sentences{"abc", "de"}));
  EXPECT_EQ(limited_for_lcs({"abc", "def", "ghijk", "l"}, five),
            (Sentences{"abc", "def", "ghijk"}));
  EXPECT_EQ(limited_for_lcs({"abcdefg", "h"}, five), (Sentences{"abcde"}));
}

TEST(Rouge155Limits, ReferencesAreCutToo) {
  Options options = only_n(1);
  options.limit = {LimitUnit::words, 2};
  EXPECT_EQ(counts({"a b c", {"a b c d"}, options})[0], (Counts{2, 2, 2}));
}

TEST(Rouge155Skip, TheLastTokenIsNeverCountedAsAUnigram) {
  const std::vector<Counts> both = counts({"a b c", {"a b c"}, only_skip(0, SkipUnigrams::also)});
  EXPECT_EQ(both[0], (Counts{2, 2, 2}));
  EXPECT_EQ(both[1], (Counts{4, 4, 4}));
  EXPECT_EQ(counts({"c", {"c"}, only_skip(4, SkipUnigrams::only)})[0], (Counts{0, 0, 0}));
}

TEST(Rouge155Skip, GapIsTheNumberOfWordsBetween) {
  EXPECT_EQ(counts({"a x b", {"a y b"}, only_skip(0, SkipUnigrams::none)})[0], (Counts{2, 2, 0}));
  EXPECT_EQ(counts({"a x b", {"a y b"}, only_skip(1, SkipUnigrams::none)})[0], (Counts{3, 3, 1}));
  EXPECT_EQ(counts({"a b c d", {"a b c d"}, only_skip(-1, SkipUnigrams::none)})[0],
            (Counts{6, 6, 6}));
}

TEST(Rouge155Lcs, UnionOverSentencesIsClippedOnBothSides) {
  // Lin 2004, section 3.2: the union of "w1 w2" and "w1 w3 w5" covers four of five words.
  EXPECT_EQ(counts({"w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", {"w1 w2 w3 w4 w5"}, {}})[0],
            (Counts{5, 10, 4}));
  // "a" is there once in the candidate and marked in two sentences of the reference.
  EXPECT_EQ(counts({"a", {"a b\na c"}, {}})[0], (Counts{4, 1, 1}));
}

TEST(Rouge155Formula, PooledOrBestRecall) {
  const Case pooled{"a b c d", {"a b", "a b c d x y"}, only_n(1)};
  EXPECT_EQ(counts(pooled)[0], (Counts{8, 8, 6}));
  Case best = pooled;
  best.options.formula = Formula::best;
  EXPECT_EQ(counts(best)[0], (Counts{2, 4, 2}));
  // Recall of n-grams is compared after rounding: 1/3 twice, so the first reference stays.
  best.references = {"a x y", "a b q q q q"};
  EXPECT_EQ(counts(best)[0], (Counts{3, 4, 1}));
}

TEST(Rouge155Weighted, AReferenceWithoutWordsIsAnError) {
  Options options = only_n(0);
  options.weight = Weight{1.2, "1.2"};
  Scorer scorer(options, lexicon(false));
  const std::vector<Summary> references = {scorer.encode({"a"}), scorer.encode({"?!"})};
  const auto result = scorer.counts(scorer.encode({"a"}), references);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "reference 2: no words, so ROUGE-W is not defined");
}

TEST(Rouge155Rounding, FComesFromRoundedRecallAndPrecision) {
  Scorer scorer(only_n(1), lexicon(false));
  const Triple triple = scorer.triple(scorer.variants()[0], {3, 7, 1});
  EXPECT_EQ(triple.recall, 0.33333);
  EXPECT_EQ(triple.precision, 0.14286);
  EXPECT_EQ(triple.f, 0.2);  // 0.2000005 of the rounded, printed as 0.20000
  EXPECT_EQ(scorer.triple(scorer.variants()[0], {0, 0, 0}), (Triple{0, 0, 0}));
}

TEST(Rouge155Rounding, TiesAreThoseOfTheBinaryValue) {
  EXPECT_EQ(round_to_five_digits(1.0 / 64), 0.01562);  // 0.015625: a true tie, to the even digit
  EXPECT_EQ(round_to_five_digits(3.0 / 64), 0.04688);
  for (int i = 0; i <= 200000; ++i) {
    const double value = i / 200000.0;
    EXPECT_EQ(round_to_five_digits(value), std::stod(five_digits(value))) << value;
  }
}

TEST(Rouge155Resampling, DrawsArePerls) {
  // perl 5.36: srand(0); print int(rand(1e15)), " ", int(rand(1e15)); srand(7) likewise.
  PerlRandom zero(0);
  EXPECT_EQ(zero.below(1e15), 170828036106289U);
  EXPECT_EQ(zero.below(1e15), 749901980484963U);
  EXPECT_EQ(PerlRandom(7).below(1e15), 266444196765409U);
}

TEST(Rouge155Resampling, TheAverageIsTheMeanOfTheSamplesAndNotOfTheItems) {
  // perl 5.36, with the values 0, 0.25 and 1 (their mean is 0.41667): for $k (0 .. 999) {
  // srand($k); … int(rand(3)) three times … }, sorted; elements 25 and 974.
  const std::vector<double> values = {0, 0.25, 1};
  const std::vector<Estimate> estimates = resample_means(values, 1, {});
  EXPECT_EQ(five_digits(estimates[0].average), "0.41650");
  EXPECT_EQ(estimates[0].lower, 0);
  EXPECT_EQ(estimates[0].upper, 1);
}

TEST(Rouge155Input, SeeSentencesEndAtTheFirstTag) {
  const std::string line = "<a name=\"1\">[1]</a> <a href=\"#1\" id=1>";
  EXPECT_EQ(read_sentences(line + "it was <unk> happy</a>\n", InputFormat::see),
            (Sentences{"it was "}));
  EXPECT_EQ(read_sentences(line + "</a>\n" + line + "b</a>", InputFormat::see), (Sentences{"b"}));
  EXPECT_EQ(read_sentences(line + "no end\n", InputFormat::see), (Sentences{"no end\n"}));
  EXPECT_EQ(read_sentences("<a size=\"9\" name=\"1\">[1]</a>\t<a href=\"#1\" id=1>x</a>",
                           InputFormat::see),
            (Sentences{"x"}));
  EXPECT_EQ(read_sentences(" " + line + "indented</a>\n<p>x</p>", InputFormat::see), Sentences{});
}

TEST(Rouge155Input, LinesEndAtNewlinesOnly) {
  EXPECT_EQ(read_sentences("a\r\n\n \nb\xE2\x80\xA8"
                           "c",
                           InputFormat::spl),
            (Sentences{"a\r", " ",
                       "b\xE2\x80\xA8"
                       "c"}));
}

TEST(Rouge155Input, IsiSentencesNeedTheirEnd) {
  EXPECT_EQ(read_sentences("<S SNTNO=\"1a,2\">x y</S>\n<S SNTNO=\"2\">z\n", InputFormat::isi),
            (Sentences{"x y"}));
}

}  // namespace
}  // namespace qfs::metrics::rouge155
