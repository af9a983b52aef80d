// What plans refuse of methods that compress: rules between parameters, and between a cell and its
// trained file.
#include "methods/compressors/specs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/support/default_params.h"

namespace qfs::compressors {
namespace {

using ::qfs::test::default_params;
using ::testing::HasSubstr;

std::unique_ptr<MethodSpec> spec_named(std::string_view name) {
  if (name == "autocompressor") return std::make_unique<AutocompressorSpec>();
  if (name == "icae") return std::make_unique<IcaeSpec>();
  if (name == "llmlingua") return std::make_unique<LlmlinguaSpec>();
  if (name == "few_shot") return std::make_unique<FewShotSpec>();
  return std::make_unique<SelfcpSpec>();
}

TEST(CompressorSpecs, ABankAloneTakesAsLongAsItsDemonstrations) {
  const SelfcpSpec spec;
  Params params = default_params(spec);
  params.set("bank", int64_t{100});
  const DatasetStats train{.examples = 10000};
  const double learning = spec.training_cost(params, train).flops;
  params.set("objective", std::string("bank"));
  const double bank = spec.training_cost(params, train).flops;
  EXPECT_GT(bank, 0);
  EXPECT_LT(bank, learning / 100);
  params.set("bank", int64_t{200});
  EXPECT_DOUBLE_EQ(spec.training_cost(params, train).flops, 2 * bank);
}

TEST(CompressorSpecs, ABankHasWhatIsShownAndWhatItIsMadeWith) {
  for (const char* name : {"selfcp", "autocompressor", "icae", "llmlingua", "few_shot"}) {
    SCOPED_TRACE(name);
    const auto spec = spec_named(name);
    Params params = default_params(*spec);
    params.set("bank", int64_t{100});
    params.set("shots", int64_t{5});
    EXPECT_TRUE(spec->check_training(params, {.examples = 5, .development = true}).ok());
    const Status few = spec->check_training(params, {.examples = 4, .development = true});
    ASSERT_FALSE(few.ok());
    EXPECT_THAT(few.error().message, HasSubstr("'shots' is 5; the training split has 4 examples"));
  }
  Params shown;
  shown.set("bank", int64_t{1});
  shown.set("train_window", int64_t{512});
  EXPECT_EQ(std::ranges::count(SelfcpSpec().layers(shown, {}), "shots@2"), 0);
  shown.set("train_window", int64_t{64});
  EXPECT_EQ(std::ranges::count(SelfcpSpec().layers(shown, {}), "shots@2"), 1);
  shown.set("train_window", int64_t{512});
  shown.set("shots", int64_t{1});
  EXPECT_EQ(std::ranges::count(FewShotSpec().layers(shown, {}), "shots@2"), 1);
  shown.set("train_mix", std::string("released"));
  for (const char* layer : {"shots@2", "released-mix@2"}) {
    EXPECT_EQ(std::ranges::count(SelfcpSpec().layers(shown, {}), layer), 1) << layer;
    EXPECT_EQ(std::ranges::count(SelfcpSpec().layers({}, {}), layer), 0) << layer;
  }
  Params alone = default_params(SelfcpSpec());
  alone.set("objective", std::string("bank"));
  const SelfcpSpec spec;
  EXPECT_THAT(spec.check_training(alone, {.examples = 9, .development = true}).error().message,
              HasSubstr("name the trained file that the bank is of"));
  EXPECT_TRUE(spec.check_training(alone, {.examples = 9, .begins = true}).ok());
  EXPECT_THAT(spec.check_training(alone, {.examples = 9, .development = true, .begins = true})
                  .error()
                  .message,
              HasSubstr("'development' is of learning"));
}

TEST(CompressorSpecs, ALabelIsReadAndDemonstrationsAreToo) {
  const FewShotSpec spec;
  Params params = default_params(spec);
  const DatasetStats sentences{100, 10, 0};
  const Cost written = spec.cost(params, sentences);
  params.set("labels", std::string("good, bad"));
  const Cost chosen = spec.cost(params, sentences);
  EXPECT_EQ(chosen.tokens_out, 0);
  EXPECT_LT(chosen.flops, written.flops);
  EXPECT_LT(chosen.bytes, written.bytes / 100);
  params.set("bank", int64_t{8});
  params.set("shots", int64_t{4});
  EXPECT_GT(spec.cost(params, sentences).flops, chosen.flops);
}

TEST(CompressorSpecs, AutoEncodingCompressesTheWholeDocument) {
  Params params = default_params(SelfcpSpec());
  params.set("objective", std::string("auto_encoding"));
  EXPECT_TRUE(SelfcpSpec().validate(params).ok());
  for (const auto& [name, value] :
       {std::pair("train_mix", "released"), std::pair("train_strategy", "former")}) {
    Params changed = params;
    changed.set(name, std::string(value));
    EXPECT_THAT(SelfcpSpec().validate(changed).error().message,
                HasSubstr("'" + std::string(name) + "' says which part"));
  }
}

TEST(CompressorSpecs, WhatFollowsIsLearnedBesideTheTextItself) {
  Params params = default_params(IcaeSpec());
  params.set("continuation_share", 0.5);
  EXPECT_THAT(IcaeSpec().validate(params).error().message,
              HasSubstr("'continuation_share' needs \"objective\": \"auto_encoding\""));
  params.set("objective", std::string("auto_encoding"));
  EXPECT_TRUE(IcaeSpec().validate(params).ok());
  params.set("select_by", std::string("rouge1"));
  EXPECT_THAT(IcaeSpec().validate(params).error().message,
              HasSubstr("'select_by' is of summaries, which \"objective\": \"auto_encoding\""));
}

TEST(CompressorSpecs, ARatioIsOfTheLongestSegmentThatIsRead) {
  const auto refused = [](const std::string& name, int64_t read, double ratio) {
    const auto spec = spec_named(name);
    Params params = default_params(*spec);
    params.set("local_context", int64_t{512});
    params.set("input_tokens", read);
    params.set("ratio", ratio);
    const Status status = spec->validate(params);
    return status.ok() ? std::string("fine") : status.error().message;
  };
  for (const char* name : {"selfcp", "llmlingua"}) {
    EXPECT_EQ(refused(name, 599, 300), "fine") << name;  // the longer half
    EXPECT_THAT(refused(name, 600, 301),
                HasSubstr("a 'ratio' of 301 for segments of up to 300 tokens ('input_tokens')"));
    EXPECT_EQ(refused(name, 1023, 512), "fine") << name;
    EXPECT_THAT(refused(name, 2048, 513), HasSubstr("up to 512 tokens ('local_context')"));
  }
  for (const char* name : {"autocompressor", "icae"}) {
    EXPECT_EQ(refused(name, 100, 100), "fine") << name;
    EXPECT_THAT(refused(name, 100, 101),
                HasSubstr("a 'ratio' of 101 for segments of up to 100 tokens ('input_tokens')"));
  }
}

TEST(CompressorSpecs, OneWindowHasNoMemory) {
  for (const char* name : {"selfcp", "llmlingua"}) {
    const auto spec = spec_named(name);
    Params params = default_params(*spec);
    params.set("local_context", int64_t{64});
    EXPECT_TRUE(spec->needs(params).memory) << name;
    params.set("input_tokens", int64_t{64});
    EXPECT_FALSE(spec->needs(params).memory) << name;
    params.set("compress_short", true);
    EXPECT_TRUE(spec->needs(params).memory) << name;
    params.set("input_tokens", int64_t{65});
    params.set("compress_short", false);
    EXPECT_TRUE(spec->needs(params).memory) << name;
  }
}

TEST(CompressorSpecs, AFileHasTheRowsThatAWindowTakes) {
  for (const char* name : {"autocompressor", "icae"}) {
    const auto spec = spec_named(name);
    const auto& rules = dynamic_cast<const ModelRules&>(*spec);
    Params asked = default_params(*spec);
    asked.set("local_context", int64_t{512});
    asked.set("ratio", 8.0);
    Params recipe;
    EXPECT_TRUE(rules.check_file(asked, recipe).ok()) << "the file says nothing";
    const std::string rows = std::string(name) == "icae" ? kMemSize : kSummaryLength;
    recipe.set("train_window", int64_t{512});  // 43 rows
    EXPECT_THAT(rules.check_file(asked, recipe).error().message,
                HasSubstr("takes 64 rows ('" + rows + "'), and 43 are trained"));
    asked.set("labels", std::string("a, b"));
    EXPECT_TRUE(rules.check_file(asked, recipe).ok()) << "nothing is compressed";
    asked.set("shots", int64_t{1});
    EXPECT_FALSE(rules.check_file(asked, recipe).ok());
    recipe.set(rows, int64_t{64});
    EXPECT_TRUE(rules.check_file(asked, recipe).ok()) << name;
  }
}

TEST(CompressorSpecs, NoMoreIsLearnedFromThanASequenceHas) {
  for (const char* name : {"selfcp", "autocompressor", "icae"}) {
    const auto spec = spec_named(name);
    Params params;
    params.set("train_tokens", int64_t{3000});
    params.set("prompt", std::string("{document}"));
    const BackboneFacts facts{.architecture = "llama", .context = 2048};
    EXPECT_EQ(spec->check_backbone(params, facts).error().message,
              "'train_tokens' is 3000; a sequence has 2048 tokens at most");
    EXPECT_TRUE(spec->check_backbone(params, {.architecture = "llama", .context = 4096}).ok());
    EXPECT_THAT(spec->check_backbone(params, {.architecture = "gpt2"}).error().message,
                HasSubstr("LLaMA family"));
  }
}

TEST(CompressorSpecs, ASegmentAndItsMemoryFitTheBackbone) {
  for (const char* name : {"selfcp", "autocompressor", "icae"}) {
    SCOPED_TRACE(name);
    const auto spec = spec_named(name);
    Params params;
    params.set("prompt", std::string("{document}"));
    params.set("ratio", 10.0);
    params.set("local_context", int64_t{1000});
    const BackboneFacts facts{.architecture = "llama", .context = 1099};
    EXPECT_EQ(spec->check_backbone(params, facts).error().message,
              "'local_context' is 1000: a segment of 1000 tokens and 100 that it becomes go over "
              "the 1099 positions of the backbone");
    EXPECT_TRUE(spec->check_backbone(params, {.architecture = "llama", .context = 1100}).ok());
    params.set("input_tokens", int64_t{999});
    EXPECT_TRUE(spec->check_backbone(params, facts).ok());
    // Of up to two windows SelfCP compresses a half, the others read windows.
    params.set("input_tokens", int64_t{1900});
    EXPECT_EQ(spec->check_backbone(params, facts).ok(), name == std::string("selfcp"));
    params.set("input_tokens", int64_t{2000});
    EXPECT_FALSE(spec->check_backbone(params, facts).ok());
  }
  Params params;
  params.set("prompt", std::string("{document}"));
  params.set("ratio", 10.0);
  params.set("local_context", int64_t{1000});
  params.set("pass_ratio", 2.0);
  const SelfcpSpec selfcp;
  EXPECT_TRUE(selfcp.check_backbone(params, {.architecture = "llama", .context = 1500}).ok());
  EXPECT_THAT(
      selfcp.check_backbone(params, {.architecture = "llama", .context = 1499}).error().message,
      HasSubstr("1000 tokens and 500 that it becomes"))
      << "its pass is longer than its memory";
}

TEST(CompressorSpecs, AWindowHoldsATokenOfTheText) {
  for (const char* name : {"autocompressor", "icae"}) {
    const auto spec = spec_named(name);
    for (const char* window : {"local_context", "train_window"}) {
      Params params = default_params(*spec);
      params.set("ratio", 1.0);
      params.set(window, int64_t{2});
      EXPECT_TRUE(spec->validate(params).ok()) << name;
      params.set(window, int64_t{1});
      EXPECT_EQ(spec->validate(params).ok(), name == std::string("autocompressor"));
    }
  }
}

TEST(CompressorSpecs, ATrainedSeparatorIsNotBegunWithOneThatWasNot) {
  const SelfcpSpec spec;
  Params params;
  Params recipe;
  recipe.set("train_separator", false);
  params.set("train_separator", false);
  EXPECT_TRUE(spec.check_init(params, recipe).ok());
  params.set("train_separator", true);
  EXPECT_EQ(spec.check_init(params, recipe).error().message,
            "its train_separator is false, the training's true");
}

TEST(CompressorSpecs, WhatIsBegunWithHasAsManyRows) {
  for (const char* name : {"autocompressor", "icae"}) {
    const auto spec = spec_named(name);
    const std::string rows = std::string(name) == "icae" ? kMemSize : kSummaryLength;
    const auto refusal = [&](const Params& params, const Params& recipe) {
      const Status status = spec->check_init(params, recipe);
      return status.ok() ? "fine" : status.error().message;
    };
    Params params;
    Params recipe;
    params.set("train_window", int64_t{512});  // 43 rows
    EXPECT_EQ(refusal(params, recipe), "fine") << "the file says nothing";
    recipe.set("train_window", int64_t{510});
    EXPECT_EQ(refusal(params, recipe), "fine") << "43, too";
    recipe.set("train_window", int64_t{128});
    EXPECT_EQ(refusal(params, recipe),
              "it has 11 rows ('" + rows + "') of windows of 128 tokens, and the training 43");
    recipe.set(rows, int64_t{43});
    EXPECT_EQ(refusal(params, recipe), "fine");
    params.set("objective", std::string("bank"));
    EXPECT_EQ(refusal(params, recipe), "its train_window is 128, the training's 512");
  }
}

TEST(CompressorSpecs, ADemonstrationFitsTheBackbone) {
  for (const char* name : {"selfcp", "autocompressor", "icae", "llmlingua", "few_shot"}) {
    const auto spec = spec_named(name);
    Params params = default_params(*spec);
    params.set("bank", int64_t{3});
    params.set("demonstration_tokens", int64_t{1024});
    EXPECT_TRUE(spec->check_backbone(params, {.architecture = "llama", .context = 1025}).ok());
    const Status over = spec->check_backbone(params, {.architecture = "llama", .context = 1024});
    ASSERT_FALSE(over.ok()) << name;
    EXPECT_THAT(over.error().message, HasSubstr("goes over the 1024 positions"));
  }
}

TEST(CompressorSpecs, ASmallModelForeseesTokens) {
  Params params = default_params(LlmlinguaSpec());
  params.set("losses_of", std::string(kSmallLm));
  const Needs needs = LlmlinguaSpec().needs(params);
  EXPECT_EQ(needs.backbones, std::vector<std::string>{kSmallLm});
  EXPECT_EQ(std::ranges::count(needs.model_types.at(kSmallLm), "bert"), 0);
  EXPECT_EQ(std::ranges::count(needs.model_types.at(kSmallLm), "llama"), 1);
}

TEST(CompressorSpecs, RulesBetweenParametersAreChecked) {
  const SelfcpSpec spec;
  Params params = default_params(spec);
  EXPECT_TRUE(spec.validate(params).ok());
  const auto refusal = [&](const char* name, const ParamValue& value) {
    Params changed = params;
    changed.set(name, value);
    return spec.validate(changed).ok() ? "fine" : spec.validate(changed).error().message;
  };
  EXPECT_EQ(refusal("ratio", 512.0), "fine");
  EXPECT_THAT(refusal("ratio", 600.0), HasSubstr("a 'ratio' of 600 for segments of up to 512"));
  EXPECT_THAT(refusal("ratio", 0.5), HasSubstr("makes a document longer"));
  Params whole = params;
  whole.set("ratio", 600.0);
  whole.set("local_context", int64_t{512});
  whole.set("input_tokens", int64_t{512});
  EXPECT_TRUE(spec.validate(whole).ok()) << "the ratio is of demonstrations alone";
  whole.set("compress_short", true);
  EXPECT_FALSE(spec.validate(whole).ok());
  EXPECT_THAT(refusal("local_context", int64_t{8}), HasSubstr("for segments of up to 8"));
  EXPECT_THAT(refusal("ratio_min", int64_t{17}), HasSubstr("'ratio_max' 16"));
  EXPECT_EQ(refusal("train_window", int64_t{16}), "fine");
  EXPECT_THAT(refusal("train_window", int64_t{15}), HasSubstr("'train_window' 15"));
  params.set("window_counts", std::string("total"));
  EXPECT_EQ(refusal("ratio", 510.0), "fine");
  EXPECT_THAT(refusal("ratio", 511.0), HasSubstr("for segments of up to 510"));
  params.set("batch_size", int64_t{2});
  EXPECT_THAT(refusal("prefix_reuse", true), HasSubstr("what is compressed are rows"));
  params.set("train_mix", std::string("released"));
  EXPECT_THAT(refusal("train_strategy", std::string("former")), HasSubstr("draws the side"));
  EXPECT_TRUE(spec.needs(params).memory);
  params.set("labels", std::string("yes, no"));
  EXPECT_FALSE(spec.needs(params).memory) << "labels are chosen for whole documents";
  for (const char* name : {"selfcp", "autocompressor", "icae", "llmlingua"}) {
    const auto of = spec_named(name);
    EXPECT_EQ(of->name(), name);
    EXPECT_TRUE(of->check_backbone({}, {"llama"}).ok());
    const Status refused = of->check_backbone({}, {"bart"});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
    if (name != std::string("llmlingua")) continue;  // segments of the others have memory, too
    Params wide;
    wide.set("local_context", int64_t{1024});
    EXPECT_TRUE(of->check_backbone(wide, {"llama", 1024}).ok());
    EXPECT_THAT(of->check_backbone(wide, {"llama", 1023}).error().message,
                HasSubstr("trained to read 1023"));
  }
}

}  // namespace
}  // namespace qfs::compressors
