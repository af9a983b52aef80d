// split_sentences: each rule of its header, on raw text and on transcripts that are split into
// tokens.
#include "methods/models/retrieval/sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace qfs::extractive {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> sentences(std::string_view text) {
  std::vector<std::string> result;
  for (const retrieval::TextSpan& span :
       retrieval::split_sentences(text, retrieval::Script::latin)) {
    result.emplace_back(text.substr(span.begin, span.end - span.begin));
  }
  return result;
}

TEST(Sentences, EndAtMarksBeforeWhiteSpace) {
  EXPECT_THAT(sentences("One here. Two there!  Three? Four"),
              ElementsAre("One here.", "Two there!", "Three?", "Four"));
  EXPECT_THAT(sentences("Wait... What?! Yes."), ElementsAre("Wait...", "What?!", "Yes."));
}

TEST(Sentences, KeepClosingQuotesAndBrackets) {
  EXPECT_THAT(sentences("He said \"Go.\" (They went.) Done."),
              ElementsAre("He said \"Go.\"", "(They went.)", "Done."));
}

TEST(Sentences, DoNotEndInsideNumbersOrNames) {
  EXPECT_THAT(sentences("It cost 3.50 at example.com today."),
              ElementsAre("It cost 3.50 at example.com today."));
}

TEST(Sentences, DoNotEndAfterAbbreviationsAndInitials) {
  EXPECT_THAT(sentences("Dr. Smith met J. K. Rowling at 5 p.m. Tuesday. Fine."),
              ElementsAre("Dr. Smith met J. K. Rowling at 5 p.m. Tuesday.", "Fine."));
  EXPECT_THAT(sentences("So did I. Then we left."), ElementsAre("So did I.", "Then we left."));
}

TEST(Sentences, DoNotEndBeforeALowerCaseWord) {
  EXPECT_THAT(sentences("\"Really?\" he asked. We nodded."),
              ElementsAre("\"Really?\" he asked.", "We nodded."));
}

TEST(Sentences, EndAtAFreeStandingMarkWhateverFollows) {
  EXPECT_THAT(sentences("yeah , okay . so we go ? no ."),
              ElementsAre("yeah , okay .", "so we go ?", "no ."));
}

TEST(Sentences, EndAtLineBreaks) {
  EXPECT_THAT(sentences("one\ntwo\r\n\r\nthree"), ElementsAre("one", "two", "three"));
}

TEST(Sentences, EndAtWideMarksWithoutASpace) {
  EXPECT_THAT(sentences("我们走吧。好！「是吗？」对"),
              ElementsAre("我们走吧。", "好！", "「是吗？」", "对"));
}

TEST(Sentences, PiecesWithoutALetterOrDigitAreDropped) {
  EXPECT_THAT(sentences(" . ?! -- Yes. ..."), ElementsAre("-- Yes."));
  EXPECT_THAT(sentences(""), IsEmpty());
  EXPECT_THAT(sentences(" \n . "), IsEmpty());
}

TEST(Sentences, SpansAreBytesOfTheText) {
  EXPECT_THAT(retrieval::split_sentences("  Çok. İyi. ", retrieval::Script::latin),
              ElementsAre(retrieval::TextSpan{2, 7}, retrieval::TextSpan{8, 13}));
}

}  // namespace
}  // namespace qfs::extractive
