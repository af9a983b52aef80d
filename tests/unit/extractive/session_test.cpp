// What all extractive methods share: reading under local_context, the word limit, output form,
// ledger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/extractive/sessions.h"
#include "methods/extractive/specs.h"
#include "tests/support/extractive_fixture.h"

namespace qfs::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Example meeting() {
  return make_example({"Ann: We start. The budget is tight.", "Bob: I agree. Cut the logo."},
                      "What about the budget?");
}

TEST(ExtractiveSession, EmitsSentencesWithoutSpeakersOneALine) {
  const Prediction prediction = summarize({.method = "lead"}, meeting());
  EXPECT_EQ(prediction.text, "We start.\nThe budget is tight.\nI agree.\nCut the logo.");
  EXPECT_EQ(prediction.finish, FinishReason::stop);
  EXPECT_EQ(prediction.tokens_in, 0);
  EXPECT_EQ(prediction.tokens_out, 11);
}

TEST(ExtractiveSession, CutsTheLastPassageAtTheWordLimit) {
  const Prediction prediction =
      summarize({.method = "lead", .params = {{"max_words", int64_t{4}}}}, meeting());
  EXPECT_EQ(prediction.text, "We start.\nThe budget");
  EXPECT_EQ(prediction.finish, FinishReason::length);
}

TEST(ExtractiveSession, ALimitThatIsReachedAtASentencesEndIsStillALimit) {
  const Prediction prediction =
      summarize({.method = "lead", .params = {{"max_words", int64_t{2}}}}, meeting());
  EXPECT_EQ(prediction.text, "We start.");
  EXPECT_EQ(prediction.finish, FinishReason::length);
}

TEST(ExtractiveSession, ReadsOnlyTheLocalContextAndRecordsIt) {
  const Prediction prediction =
      summarize({.method = "lead", .params = {{"local_context", int64_t{9}}}}, meeting());
  // Ann: + 6 words, Bob: + 1 word.
  EXPECT_EQ(prediction.text, "We start.\nThe budget is tight.\nI");
  ASSERT_TRUE(prediction.truncation);
  EXPECT_EQ(prediction.truncation->document_tokens, 13);
  EXPECT_EQ(prediction.truncation->kept_tokens, 9);
  EXPECT_EQ(prediction.truncation->query_tokens, 4);
  EXPECT_THAT(prediction.truncation->kept, ElementsAre(ByteSpan{0, 0, 35}, ByteSpan{1, 0, 6}));
}

TEST(ExtractiveSession, ACutInsideTheSpeakersNameLeavesNothingOfThatTurn) {
  const Prediction prediction =
      summarize({.method = "lead", .params = {{"local_context", int64_t{8}}}}, meeting());
  EXPECT_EQ(prediction.text, "We start.\nThe budget is tight.");
}

TEST(ExtractiveSession, TruncationPolicyIsHonoured) {
  const Prediction prediction =
      summarize({.method = "lead", .params = {{"local_context", int64_t{3}}, {"truncate", "tail"}}},
                meeting());
  EXPECT_EQ(prediction.text, "Cut the logo.");
}

TEST(ExtractiveSession, SelectedSpansPointIntoTheRenderedSegments) {
  const Prediction prediction =
      summarize({.method = "lead", .params = {{"max_words", int64_t{7}}}}, meeting());
  EXPECT_EQ(prediction.extra.text, R"({"selected":[[0,5,14],[0,15,35],[1,5,6]]})");
}

TEST(ExtractiveSession, AnEmptyDocumentGivesAnEmptySummary) {
  for (const char* method : {"lead", "random", "textrank", "bm25"}) {
    const Prediction prediction = summarize({.method = method}, make_example({}, "anything ?"));
    EXPECT_EQ(prediction.text, "") << method;
    EXPECT_EQ(prediction.extra.text, R"({"selected":[]})");
  }
}

TEST(ExtractiveSession, ADocumentSeenTwiceIsAnsweredAlikeForEachQuery) {
  Example other = meeting();
  other.query = "Who wants to cut the logo?";
  const auto together = summarize_all({.method = "bm25"}, {meeting(), other, meeting()});
  ASSERT_TRUE(together.ok());
  EXPECT_EQ((*together)[0], summarize({.method = "bm25"}, meeting()));
  EXPECT_EQ((*together)[1], summarize({.method = "bm25"}, other));
  EXPECT_EQ((*together)[2], (*together)[0]);
}

TEST(ExtractiveSession, NeedsATokenizer) {
  ResourceCache cache;
  SessionRequest request;
  request.params = resolved_params({.method = "lead"});
  const auto session = extractive::extractive_sessions().front().open(request, cache);
  ASSERT_FALSE(session.ok());
  EXPECT_THAT(session.error().message, HasSubstr("needs a tokenizer"));
}

TEST(ExtractiveSpecs, EachHasASessionOfTheSameName) {
  std::vector<std::string> specs;
  std::vector<std::string> sessions;
  for (const auto& spec : extractive::extractive_specs()) specs.emplace_back(spec->name());
  for (const auto& factory : extractive::extractive_sessions()) sessions.push_back(factory.method);
  EXPECT_EQ(specs, sessions);
  EXPECT_THAT(specs, ElementsAre("lead", "random", "textrank", "bm25", "oracle", "oracle_dyle"));
}

TEST(ExtractiveSpecs, OnlyOraclesReadReferences) {
  for (const auto& spec : extractive::extractive_specs()) {
    const Needs needs = spec->needs(resolved_params({.method = std::string(spec->name())}));
    EXPECT_EQ(needs.references, spec->name().starts_with("oracle")) << spec->name();
    EXPECT_FALSE(needs.tensors);
    EXPECT_TRUE(needs.tokenizer);
  }
}

TEST(ExtractiveSpecs, DefaultsLieInTheirRangesAndChoices) {
  for (const auto& spec : extractive::extractive_specs()) {
    for (const ParamSpec& param : spec->params()) {
      if (!param.default_value) continue;
      ASSERT_EQ(param.default_value->index(), static_cast<size_t>(param.type)) << param.name;
      if (const auto* text = std::get_if<std::string>(&*param.default_value)) {
        EXPECT_THAT(param.choices, testing::Contains(*text));
      } else {
        const auto* integer = std::get_if<int64_t>(&*param.default_value);
        const double value =
            integer ? static_cast<double>(*integer) : std::get<double>(*param.default_value);
        EXPECT_GE(value, param.minimum.value_or(value)) << param.name;
        EXPECT_LE(value, param.maximum.value_or(value)) << param.name;
      }
    }
  }
}

TEST(ExtractiveSpecs, LayersAreSortedAndTheOracleNamesItsMetric) {
  for (const auto& spec : extractive::extractive_specs()) {
    const std::vector<std::string> layers = spec->layers({}, {});
    EXPECT_TRUE(std::is_sorted(layers.begin(), layers.end())) << spec->name();
    EXPECT_THAT(layers, testing::Contains("truncation@1"));
    if (spec->name() == "oracle") {
      EXPECT_THAT(layers, testing::Contains(HasSubstr("compat:rouge_score-0.1.2")));
    }
  }
}

TEST(ExtractiveSpecs, CostGrowsWithTheLengthThatMayBeRead) {
  for (const auto& spec : extractive::extractive_specs()) {
    const std::string name(spec->name());
    const DatasetStats stats{100, 10000, 10};
    const Params whole = resolved_params({.method = name});
    const Params cut =
        resolved_params({.method = name, .params = {{"local_context", int64_t{256}}}});
    EXPECT_GT(spec->cost(whole, stats).flops, spec->cost(cut, stats).flops) << name;
    EXPECT_GT(spec->cost(cut, stats).flops, 0) << name;
  }
}

}  // namespace
}  // namespace qfs::test
