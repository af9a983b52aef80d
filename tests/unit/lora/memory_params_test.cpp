// What parameters and recipes say of a memory, without a model.
#include "methods/models/prompted/memory_params.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "methods/lora/spec.h"

namespace qfs::lora {
namespace {

using ::testing::HasSubstr;

TEST(Memory, ATrainingBeginsWithOneOfItsOwnForm) {
  const auto refused = [](const std::map<std::string, ParamValue>& own,
                          const std::map<std::string, ParamValue>& its) {
    Params params;
    Params recipe;
    for (const auto& [name, value] : own) params.set(name, value);
    for (const auto& [name, value] : its) recipe.set(name, value);
    const Status fits = LoraSpec().check_init(params, recipe);
    return fits.ok() ? std::string() : fits.error().message;
  };
  using Values = std::map<std::string, ParamValue>;
  const auto text = [](const char* words) { return ParamValue(std::string(words)); };
  const Values asking = {{"memory", text("qf_infini")}};
  EXPECT_EQ(refused(asking, asking), "");
  EXPECT_EQ(refused(asking, {}), "") << "of a plain file a memory begins";
  EXPECT_EQ(refused({}, asking), "its memory is qf_infini, the training's none");
  EXPECT_EQ(refused({{"memory", text("infini")}}, asking),
            "its memory is qf_infini, the training's infini");
  EXPECT_EQ(refused({{"memory", text("qf_infini")}, {"memory_rule", text("linear")}}, asking),
            "its memory_rule is delta, the training's linear");
  EXPECT_EQ(refused({{"memory", text("qf_infini")}, {"alpha_scale", text("model")}}, asking),
            "its alpha_scale is head, the training's model");
  EXPECT_EQ(refused({{"memory", text("qf_infini")}, {"gamma_bias", ParamValue(false)}}, asking),
            "its gamma_bias is true, the training's false");
  EXPECT_EQ(refused({{"memory", text("infini")}, {"memory_rule", text("delta")}},
                    {{"memory", text("infini")}}),
            "");
}

TEST(Memory, WhatIsLeftOutIsAsItsPresetHasIt) {
  Params params;
  const auto is = [&](const char* rule, const char* scale, bool bias, bool sums) {
    const prompted::MemoryForm form = prompted::memory_form(params);
    EXPECT_EQ(form.rule, rule);
    EXPECT_EQ(form.alpha_scale, scale);
    EXPECT_EQ(form.gamma_bias, bias);
    EXPECT_EQ(form.segment_sums, sums);
  };
  is("delta", "head", true, false);
  params.set("preset", std::string("as_released"));
  is("delta", "head", true, true);
  params.set("preset", std::string("as_written"));
  is("linear", "model", false, false);
  params.set("memory_rule", std::string("delta"));
  params.set("alpha_scale", std::string("head"));
  params.set("gamma_bias", true);
  params.set("segment_loss", std::string("sum"));
  is("delta", "head", true, true);
}

TEST(Memory, AFileIsReadAsItWasTrained) {
  Params asked;
  Params recipe;
  const auto refusal = [&] {
    const Status status = prompted::check_memory_file(asked, recipe);
    return status.ok() ? "fine" : status.error().message;
  };
  asked.set("memory", std::string("qf_infini"));
  asked.set("memory_rule", std::string("linear"));
  EXPECT_EQ(refusal(), "fine") << "the file says nothing";
  recipe.set("rank", int64_t{4});
  EXPECT_THAT(refusal(), HasSubstr("was trained without a memory"));
  asked.set("memory_read", std::string("none"));
  EXPECT_EQ(refusal(), "fine");
  recipe.set("memory", std::string("qf_infini"));
  EXPECT_EQ(refusal(), "'memory_rule' is 'linear', but the file was trained with 'delta'");
  asked.set("memory_rule", std::string("delta"));
  asked.set("alpha_scale", std::string("model"));
  EXPECT_EQ(refusal(), "'alpha_scale' is 'model', but the file was trained with 'head'");
  // Version 1 of `ideal` said nothing and wrote as the release does.
  recipe.set("preset", std::string("as_written"));
  EXPECT_EQ(refusal(), "fine") << "both are given";
  asked = {};
  asked.set("memory", std::string("qf_infini"));
  EXPECT_THAT(refusal(), HasSubstr("the file does not say how its memory is written"));
  recipe.set("memory_rule", std::string("linear"));
  EXPECT_EQ(refusal(), "fine");
  asked.set("kept_tokens", int64_t{8});
  EXPECT_THAT(refusal(), HasSubstr("'kept_tokens' is 8, but the file was trained without"));
  asked.set("memory_read", std::string("none"));
  EXPECT_EQ(refusal(), "fine") << "a window alone keeps what it is told to";
}

TEST(Memory, ATrainingHasLongerSequencesThanItsSegments) {
  Params params;
  params.set("memory", std::string("infini"));
  params.set("train_tokens", int64_t{520});
  params.set("kept_tokens", int64_t{8});
  const auto refusal = [](const Params& asked, const Params& recipe) {
    const Status status = prompted::check_memory_file(asked, recipe);
    return status.ok() ? "fine" : status.error().message;
  };
  EXPECT_EQ(refusal(params, params),
            "'train_tokens' is 520, and 520 tokens are attended to at once ('train_segment'), so "
            "that nothing would reach the memory that is trained");
  params.set("train_segment", int64_t{511});
  EXPECT_EQ(refusal(params, params), "fine");
  Params trained = params;
  trained.set("train_segment", int64_t{512});
  EXPECT_EQ(refusal(params, trained), "fine") << "a file is read however it was trained";
}

TEST(Memory, ARequestIsRepeatedThatThePromptShows) {
  const LoraSpec spec;
  Params params;
  for (const ParamSpec& param : spec.params()) {
    if (param.default_value) params.set(param.name, *param.default_value);
  }
  params.set("memory", std::string("infini"));
  params.set("local_context", int64_t{24});
  params.set("prompt", std::string("{document}"));
  EXPECT_TRUE(spec.validate(params).ok());
  params.set("repeat_query", true);
  EXPECT_THAT(spec.validate(params).error().message, HasSubstr("it has no {query}"));
  params.set("prompt", std::string("{query} {document}"));
  EXPECT_TRUE(spec.validate(params).ok());
}

TEST(Memory, AWindowHoldsWhatItsFileKeeps) {
  Params asked;
  asked.set("local_context", int64_t{64});
  Params recipe;
  recipe.set("memory", std::string("qf_infini"));
  recipe.set("kept_tokens", int64_t{64});
  EXPECT_THAT(prompted::check_memory_file(asked, recipe).error().message,
              HasSubstr("trained with 64 'kept_tokens', and 64 tokens are attended to at once"));
  asked.set("local_context", int64_t{65});
  EXPECT_TRUE(prompted::check_memory_file(asked, recipe).ok());
  recipe.set("kept_tokens", true);  // a file may say anything
  EXPECT_TRUE(prompted::check_memory_file(asked, recipe).ok());
}

TEST(Memory, OfVersion1OnlyItsKindIsKnown) {
  Params recipe;
  recipe.set("memory", std::string("qf_infini"));
  recipe.set("preset", std::string("as_written"));
  Params training;
  training.set("memory", std::string("qf_infini"));
  training.set("memory_rule", std::string("delta"));
  EXPECT_TRUE(prompted::check_memory_init(training, recipe).ok());
  training.set("memory", std::string("infini"));
  EXPECT_FALSE(prompted::check_memory_init(training, recipe).ok());
}

}  // namespace
}  // namespace qfs::lora
