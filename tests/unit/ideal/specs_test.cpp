// Rules of ideal, parallel_adapter and prompt_tuning that a plan is held to.
#include "methods/ideal/specs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/ideal/session_train.h"

namespace qfs::ideal {
namespace {

using ::testing::HasSubstr;

TEST(IdealSpecs, TensorsOfAReleaseSayWhetherItHasAMemory) {
  Params params;
  params.set("memory", std::string("qf_infini"));
  Params release;  // adapter_params.json
  release.set("rank", int64_t{8});
  release.set("pooling", std::string("instruction"));
  EXPECT_TRUE(IdealSpec().check_file(params, release).ok());
  Params ours = release;
  ours.set("preset", std::string("as_written"));
  EXPECT_THAT(IdealSpec().check_file(params, ours).error().message,
              HasSubstr("trained without a memory"));
}

TEST(IdealSpecs, RulesBetweenParametersAreChecked) {
  const IdealSpec spec;
  Params params;
  for (const ParamSpec& param : spec.params()) {
    if (param.default_value) params.set(param.name, *param.default_value);
  }
  EXPECT_TRUE(spec.validate(params).ok());
  const auto refusal = [&](const char* name, const ParamValue& value) {
    Params changed = params;
    changed.set(name, value);
    return spec.validate(changed).ok() ? "fine" : spec.validate(changed).error().message;
  };
  EXPECT_THAT(refusal("prompt", std::string("{document}")), HasSubstr("no {query} to pool"));
  EXPECT_THAT(refusal("prefix_reuse", true), HasSubstr("differ from query to query"));
  EXPECT_EQ(refusal("hyper_instruction", std::string("general")), "fine");
  EXPECT_EQ(refusal("repeat_query", true), "'repeat_query' needs 'memory'");
  Params pooled = params;
  pooled.set("memory", std::string("infini"));
  pooled.set("local_context", int64_t{24});
  EXPECT_TRUE(spec.validate(pooled).ok());
  Params together = pooled;
  together.set("read_together", int64_t{6});
  EXPECT_THAT(spec.validate(together).error().message, HasSubstr("with the preset as_released"));
  together.set("preset", std::string("as_released"));
  together.set("batch_order", std::string("words"));
  // So that a batch is not halved either, when memory runs out.
  EXPECT_THAT(spec.validate(together).error().message, HasSubstr("a 'batch_size' of 6, too"));
  together.set("batch_size", int64_t{6});
  EXPECT_TRUE(spec.validate(together).ok());
  together.set("batch_order", std::string("given"));
  EXPECT_FALSE(spec.validate(together).ok());
  pooled.set("pooling", std::string("all"));
  EXPECT_THAT(spec.validate(pooled).error().message, HasSubstr("lies in one segment"));
  EXPECT_EQ(refusal("targets", std::string("q_proj,down_proj")), "fine");
  EXPECT_THAT(refusal("targets", std::string("q_proj,,")), HasSubstr("empty name"));
  params.set("pooling", std::string("all"));
  EXPECT_THAT(refusal("hyper_instruction", std::string("general")),
              HasSubstr("that pools the instruction"));
  params.set("adapter", std::string("prompt"));
  EXPECT_THAT(refusal("targets", std::string("q_proj")),
              HasSubstr("no effect with \"adapter\": \"prompt\""));
}

TEST(IdealSpecs, ATrainingBeginsWithAFileOfItsSizes) {
  const auto refused = [](const MethodSpec& spec, const std::map<std::string, ParamValue>& own,
                          const std::map<std::string, ParamValue>& its) {
    Params params;
    Params recipe;
    for (const auto& [name, value] : own) params.set(name, value);
    for (const auto& [name, value] : its) recipe.set(name, value);
    const Status fits = spec.check_init(params, recipe);
    return fits.ok() ? std::string("fine") : fits.error().message;
  };
  const ParamValue lora = std::string("lora");
  const ParamValue all = std::string("all");
  const ParamValue request = std::string("instruction");
  EXPECT_EQ(
      refused(ParallelAdapterSpec(), {{"bottleneck", int64_t{32}}}, {{"bottleneck", int64_t{16}}}),
      "its bottleneck is 16, the training's 32");
  EXPECT_EQ(refused(PromptTuningSpec(), {{"length", int64_t{5}}}, {{"length", int64_t{10}}}),
            "its length is 10, the training's 5");
  EXPECT_EQ(
      refused(PromptTuningSpec(), {{"first_layer", int64_t{2}}}, {{"first_layer", int64_t{0}}}),
      "its first_layer is 0, the training's 2");
  EXPECT_EQ(refused(IdealSpec(), {{"adapter", lora}, {"bottleneck", int64_t{16}}},
                    {{"adapter", lora}, {"bottleneck", int64_t{32}}}),
            "fine")
      << "it is not read";
  EXPECT_EQ(refused(IdealSpec(), {{"adapter", lora}, {"pooling", all}},
                    {{"adapter", lora}, {"pooling", request}}),
            "its pooling is instruction, the training's all");
}

TEST(IdealSpecs, WhatIsNotReadIsRefused) {
  const IdealSpec spec;
  const auto refused = [&](const std::map<std::string, ParamValue>& given) {
    Params params;
    for (const ParamSpec& param : spec.params()) {
      if (param.default_value) params.set(param.name, *param.default_value);
    }
    for (const auto& [name, value] : given) params.set(name, value);
    const Status valid = spec.validate(params);
    return valid.ok() ? std::string("fine") : valid.error().message;
  };
  const ParamValue prompt = std::string("prompt");
  const ParamValue parallel = std::string("parallel_adapter");
  const ParamValue none = std::string("none");
  EXPECT_EQ(refused({{"rank", int64_t{4}}}), "fine");
  EXPECT_EQ(refused({{"adapter", prompt}, {"length", int64_t{5}}, {"gate_tanh", false}}), "fine");
  EXPECT_EQ(refused({{"adapter", parallel}, {"bottleneck", int64_t{5}}}), "fine");
  EXPECT_EQ(refused({{"generated", none}, {"generated_layers", int64_t{5}}}), "fine");
  EXPECT_EQ(refused({{"length", int64_t{5}}}),
            "'length' has no effect with \"adapter\": \"lora\"; leave it out");
  EXPECT_THAT(refused({{"gate_tanh", true}}), HasSubstr("'gate_tanh' has no effect"));
  EXPECT_THAT(refused({{"adapter", prompt}, {"rank", int64_t{4}}}),
              HasSubstr("'rank' has no effect"));
  EXPECT_THAT(refused({{"adapter", parallel}, {"rank", int64_t{4}}}),
              HasSubstr("'rank' has no effect"));
  EXPECT_THAT(refused({{"generated", none}, {"pooling", std::string("all")}}),
              HasSubstr("'pooling' has no effect with \"generated\": \"none\""));
  EXPECT_EQ(refused({{"hyper_detach", false}}), "fine");
  const std::map<std::string, ParamValue> memory = {{"memory", std::string("qf_infini")},
                                                    {"local_context", int64_t{448}}};
  EXPECT_EQ(refused(memory), "fine");
  std::map<std::string, ParamValue> attached = memory;
  attached["hyper_detach"] = false;
  EXPECT_THAT(refused(attached), HasSubstr("gradients would cross segments"));
  EXPECT_THAT(refused({{"generated", none}, {"hyper_detach", false}}),
              HasSubstr("'hyper_detach' has no effect"));
}

TEST(IdealSpecs, AFileIsReadAsItsPresetTrainedIt) {
  const IdealSpec spec;
  Params recipe;
  recipe.set("preset", std::string("as_written"));
  const auto refusal = [&](const char* name, const ParamValue& value) {
    Params asked;
    asked.set(name, value);
    const Status status = spec.check_file(asked, recipe);
    return status.ok() ? "fine" : status.error().message;
  };
  EXPECT_EQ(refusal("hyper_precision", std::string("fp32")), "fine");
  EXPECT_THAT(refusal("hyper_precision", std::string("bf16")), HasSubstr("was trained in 'fp32'"));
  EXPECT_EQ(refusal("gate_tanh", true), "fine");
  EXPECT_THAT(refusal("gate_tanh", false), HasSubstr("not as the file was trained"));
  EXPECT_THAT(refusal("memory", std::string("infini")), HasSubstr("trained without a memory"));
  recipe.set("preset", std::string("as_released"));
  EXPECT_EQ(refusal("hyper_precision", std::string("fp16_as_released")), "fine");
  EXPECT_EQ(refusal("gate_tanh", false), "fine");
  recipe = {};
  EXPECT_EQ(refusal("hyper_precision", std::string("bf16")), "fine") << "the file says nothing";
  recipe.set("generated", std::string("upper"));
  EXPECT_EQ(refusal("hyper_instruction", std::string("general")), "fine");
  recipe.set("generated", std::string("none"));
  EXPECT_THAT(refusal("hyper_instruction", std::string("general")), HasSubstr("no hypernetwork"));
}

TEST(IdealSpecs, APresetDecidesWhatIsNotSaid) {
  const auto config = [](const std::string& method, const std::string& preset,
                         const std::vector<std::pair<std::string, ParamValue>>& said = {}) {
    Params params;
    params.set("preset", preset);
    params.set("length", int64_t{4});
    params.set("pooling", std::string("instruction"));
    params.set("adapter", std::string("prompt"));
    for (const auto& [name, value] : said) params.set(name, value);
    return config_of(method, params, {.layers = 32});
  };
  const auto written = config("ideal", "as_written");
  EXPECT_EQ(written.first_layer, 2);
  EXPECT_TRUE(written.gate_tanh);
  EXPECT_EQ(written.hyper.precision, peft::HyperPrecision::fp32);
  EXPECT_EQ(written.hyper.layers, 15);
  const auto released = config("ideal", "as_released");
  EXPECT_EQ(released.first_layer, 0);
  EXPECT_FALSE(released.gate_tanh);
  EXPECT_EQ(released.hyper.precision, peft::HyperPrecision::fp16_as_released);
  EXPECT_EQ(released.hyper.layers, 16);
  EXPECT_EQ(config("prompt_tuning", "as_written").first_layer, 2);
  EXPECT_FALSE(config("prompt_tuning", "as_released").gate_tanh);
  // What is said holds in either.
  const auto said = config(
      "ideal", "as_released",
      {{"first_layer", int64_t{3}}, {"gate_tanh", true}, {"hyper_precision", std::string("bf16")}});
  EXPECT_EQ(said.first_layer, 3);
  EXPECT_TRUE(said.gate_tanh);
  EXPECT_EQ(said.hyper.precision, peft::HyperPrecision::bf16);
}

TEST(IdealSpecs, AHypernetworkPoolsAnInstructionOfOneSegment) {
  const IdealSpec spec;
  Params params;
  for (const ParamSpec& param : spec.params()) {
    if (param.default_value) params.set(param.name, *param.default_value);
  }
  EXPECT_FALSE(spec.token_bound(params, {}));
  params.set("memory", std::string("infini"));
  params.set("local_context", int64_t{24});
  ASSERT_TRUE(spec.token_bound(params, {}));
  EXPECT_THAT(spec.token_bound(params, {})->holder, HasSubstr("which the hypernetwork pools"));
  params.set("generated", std::string("none"));
  EXPECT_FALSE(spec.token_bound(params, {}));
}

TEST(IdealSpecs, OtherArchitecturesAreRefusedBeforeAnythingRuns) {
  const ParallelAdapterSpec parallel;
  const PromptTuningSpec prompts;
  const IdealSpec ideal;
  for (const MethodSpec* spec :
       {static_cast<const MethodSpec*>(&parallel), static_cast<const MethodSpec*>(&prompts),
        static_cast<const MethodSpec*>(&ideal)}) {
    EXPECT_TRUE(spec->check_backbone({}, {"llama"}).ok());
    const Status refused = spec->check_backbone({}, {"bart"});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("LLaMA family"));
  }
}

}  // namespace
}  // namespace qfs::ideal
