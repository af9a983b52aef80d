// The publisher's settings of decoding with parameters in their places, as transformers 5.23's
// generate() takes its arguments.
#include "methods/models/decoding/chosen_decoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/decoding/decoding_params.h"

namespace qfs::decoding {
namespace {

using architectures::GenerationDefaults;
using nn::SequenceShape;
using ::testing::HasSubstr;

Params published(std::map<std::string, ParamValue> values) {
  Params params;
  params.set("decoding", std::string("checkpoint"));
  for (auto& [name, value] : values) params.set(name, std::move(value));
  EXPECT_TRUE(check_decoding(params).ok());
  return params;
}

SequenceShape encoder_decoder() {
  SequenceShape shape;
  shape.decoder_start = {2};
  shape.source_context = 64;
  return shape;
}

std::string refusal(const GenerationDefaults& defaults, std::map<std::string, ParamValue> values,
                    const SequenceShape& shape = {}) {
  const auto options = chosen_decoding(published(std::move(values)), defaults, shape);
  return options.ok() ? "accepted" : options.error().message;
}

DecodingOptions applied(std::map<std::string, ParamValue> values) {
  Params params;
  for (auto& [name, value] : values) params.set(name, std::move(value));
  const auto options = chosen_decoding(params, {}, {});
  EXPECT_TRUE(options.ok());
  return *options;
}

TEST(GivenDecoding, sampling_and_beams_take_their_parameters) {
  EXPECT_FALSE(applied({}).sampling || applied({}).beams);
  const DecodingOptions drawn = applied({{"temperature", 0.1},
                                         {"top_p", 0.75},
                                         {"top_k", int64_t{9}},
                                         {"nucleus", std::string("exceeds")}});
  ASSERT_TRUE(drawn.sampling && !drawn.beams);
  EXPECT_EQ(drawn.sampling->temperature, 0.1);
  EXPECT_EQ(drawn.sampling->top_p, 0.75);
  EXPECT_EQ(drawn.sampling->top_k, 9);
  EXPECT_EQ(drawn.sampling->nucleus, NucleusRule::exceeds);
  const DecodingOptions searched = applied({{"num_beams", int64_t{3}},
                                            {"length_penalty", 1.3},
                                            {"early_stopping", std::string("yes")},
                                            {"beam_rules", std::string("scorer")},
                                            {"min_new_tokens", int64_t{100}},
                                            {"no_repeat_ngram", int64_t{3}}});
  ASSERT_TRUE(searched.beams && !searched.sampling);
  EXPECT_EQ(searched.beams->count, 3);
  EXPECT_EQ(searched.beams->length_penalty, 1.3);
  EXPECT_EQ(searched.beams->early_stopping, EarlyStopping::yes);
  EXPECT_EQ(searched.beams->rules, BeamRules::scorer);
  EXPECT_EQ(searched.min_new_tokens, 100);
  EXPECT_EQ(searched.no_repeat_ngram, 3);
  EXPECT_FALSE(applied({{"num_beams", int64_t{1}}}).beams);
  const DecodingOptions off = applied({{"temperature", 1.0},
                                       {"top_k", int64_t{0}},
                                       {"min_new_tokens", int64_t{0}},
                                       {"no_repeat_ngram", int64_t{0}}});
  EXPECT_EQ(off.sampling->top_k, 0);
  EXPECT_EQ(off.min_new_tokens, 0);
  EXPECT_EQ(off.no_repeat_ngram, 0);
}

class SearchingCheckpoint : public ::testing::Test {
 protected:
  SearchingCheckpoint() {
    defaults_.published.num_beams = 3;
    defaults_.published.length_penalty = 3.0;
    defaults_.published.early_stopping = "yes";
  }
  GenerationDefaults defaults_;
};

TEST_F(SearchingCheckpoint, keeps_what_is_not_given) {
  const auto wider = chosen_decoding(published({{"num_beams", int64_t{5}}}), defaults_, {});
  ASSERT_TRUE(wider.ok() && wider->beams);
  EXPECT_EQ(wider->beams->count, 5);
  EXPECT_EQ(wider->beams->length_penalty, 3.0);
  EXPECT_EQ(wider->beams->early_stopping, EarlyStopping::yes);
  const auto longer = chosen_decoding(published({{"length_penalty", 0.5}}), defaults_, {});
  ASSERT_TRUE(longer.ok() && longer->beams);
  EXPECT_EQ(longer->beams->count, 3);
  EXPECT_EQ(longer->beams->length_penalty, 0.5);
  EXPECT_FALSE(chosen_decoding(published({{"num_beams", int64_t{1}}}), defaults_, {})->beams);
}

TEST_F(SearchingCheckpoint, does_not_draw) {
  EXPECT_THAT(refusal(defaults_, {{"temperature", 0.5}}), HasSubstr("search with 3 beams"));
  EXPECT_THAT(refusal(defaults_, {{"top_p", 0.5}}), HasSubstr("'top_p' needs 'temperature'"));
  const auto drawn =
      chosen_decoding(published({{"temperature", 0.5}, {"num_beams", int64_t{1}}}), defaults_, {});
  ASSERT_TRUE(drawn.ok() && drawn->sampling && !drawn->beams);
  EXPECT_EQ(drawn->sampling->top_k, 50);
}

TEST(DrawingCheckpoint, keeps_what_is_not_given) {
  GenerationDefaults defaults;
  defaults.published.sample = true;
  defaults.published.top_k = 1;
  defaults.published.top_p = 0.7;
  const auto warmer = chosen_decoding(published({{"temperature", 5.0}}), defaults, {});
  ASSERT_TRUE(warmer.ok() && warmer->sampling);
  EXPECT_EQ(warmer->sampling->temperature, 5.0);
  EXPECT_EQ(warmer->sampling->top_k, 1);
  EXPECT_EQ(warmer->sampling->top_p, 0.7);
  const auto narrower = chosen_decoding(published({{"top_p", 0.5}}), defaults, {});
  ASSERT_TRUE(narrower.ok() && narrower->sampling);
  EXPECT_EQ(narrower->sampling->top_p, 0.5);
  EXPECT_EQ(narrower->sampling->temperature, 1.0);
  EXPECT_THAT(refusal(defaults, {{"length_penalty", 2.0}}),
              HasSubstr("'length_penalty' needs 'num_beams' from 2"));
  EXPECT_THAT(refusal(defaults, {{"num_beams", int64_t{4}}}), HasSubstr("draws tokens"));
  defaults.published.temperature = 0.0;
  EXPECT_THAT(refusal(defaults, {}), HasSubstr("not above 0"));
  EXPECT_EQ(refusal(defaults, {{"temperature", 1.0}}), "accepted");
}

TEST(ShortestOutput, new_tokens_go_before_lengths) {
  GenerationDefaults defaults;
  defaults.published.min_length = 9;
  EXPECT_EQ(chosen_decoding(published({}), defaults, encoder_decoder())->min_new_tokens, 8);
  EXPECT_THAT(refusal(defaults, {}), HasSubstr("counts the prompt"));
  defaults.published.min_new_tokens = 3;
  EXPECT_EQ(chosen_decoding(published({}), defaults, encoder_decoder())->min_new_tokens, 3);
  EXPECT_EQ(chosen_decoding(published({}), defaults, {})->min_new_tokens, 3);
}

TEST(ShortestOutput, a_given_length_goes_before_what_is_published) {
  GenerationDefaults defaults;
  defaults.published.min_new_tokens = 3;
  const auto chosen =
      chosen_decoding(published({{"min_length", int64_t{6}}}), defaults, encoder_decoder());
  EXPECT_EQ(chosen->min_new_tokens, 5);
  EXPECT_THAT(refusal(defaults, {{"min_length", int64_t{6}}}), HasSubstr("give 'min_new_tokens'"));
}

TEST(RepetitionPenalty, is_given_or_published) {
  GenerationDefaults defaults;
  defaults.published.repetition_penalty = 1.05;
  EXPECT_EQ(chosen_decoding(Params(), defaults, {})->repetition_penalty, 1);
  EXPECT_EQ(chosen_decoding(published({}), defaults, {})->repetition_penalty, 1.05);
  EXPECT_EQ(
      chosen_decoding(published({{"repetition_penalty", 1.2}}), defaults, {})->repetition_penalty,
      1.2);
  defaults.published.repetition_penalty = 0;
  EXPECT_THAT(refusal(defaults, {}), HasSubstr("'repetition_penalty' is not above 0"));
}

TEST(PublishedSettings, hinder_only_who_asks_for_them) {
  GenerationDefaults defaults;
  defaults.published.status = data_error("out of range", "generation_config.json#/top_k");
  EXPECT_TRUE(chosen_decoding(Params(), defaults, {}).ok());
  EXPECT_EQ(refusal(defaults, {}), "out of range");
  defaults.published.status = {};
  defaults.published.uncomputed_draw = "generation_config.json#/typical_p";
  EXPECT_EQ(refusal(defaults, {}), "accepted");
  EXPECT_THAT(refusal(defaults, {{"temperature", 1.0}}), HasSubstr("'typical_p'"));
}

}  // namespace
}  // namespace qfs::decoding
