// Logits of tiny random GPT-2 models, read from Hugging Face folders, equal those of transformers
// 5.23 (values by make_tiny_gpt2_expected.py); rows do not disturb one another; what is not
// computed is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/architectures.h"
#include "methods/models/architectures/gpt2/gpt2.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/step_model.h"
#include "tests/support/expected_logits.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::architectures {
namespace {

using nlohmann::json;
using qfs::test::expect_logits;
using ::testing::HasSubstr;

constexpr size_t kVocabulary = 40;

json gpt2_file() {
  std::ifstream file("tests/conformance/models/architectures/tiny_gpt2_expected.json");
  return json::parse(file);
}

json first_gpt2() { return gpt2_file().at("cases").at(0); }

Result<std::shared_ptr<const nn::Decoder>> load_gpt2(const json& test_case) {
  const qfs::test::TemporaryFolder folder;
  const auto directory =
      checkpoints::ModelDirectory::open(qfs::test::write_tiny_checkpoint(folder, test_case));
  if (!directory.ok()) return directory.error();
  return load_gpt2_decoder(*directory);
}

class TinyGpt2Conformance : public ::testing::Test {
 protected:
  TinyGpt2Conformance() { EXPECT_TRUE(nn::configure_torch({}).ok()); }
};

TEST_F(TinyGpt2Conformance, LogitsOfEveryKindEqualTransformers) {
  const json file = gpt2_file();
  ASSERT_EQ(file.at("cases").size(), 7U);
  const size_t every = file.at("every");
  for (const json& test_case : file.at("cases")) {
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    const auto decoder = load_gpt2(test_case);
    ASSERT_TRUE(decoder.ok()) << decoder.error().to_string();
    const auto model = std::make_unique<nn::StepModel>(*decoder);
    for (const size_t prompt : {size_t{1}, size_t{10}, test_case.at("ids").size()}) {
      expect_logits(*model, test_case, prompt, every);
    }
  }
}

TEST_F(TinyGpt2Conformance, TheRestOfASharedPrefixHasTheLogitsOfTheWholePrompt) {
  const json test_case = first_gpt2();
  const auto decoder = load_gpt2(test_case);
  ASSERT_TRUE(decoder.ok());
  const auto model = std::make_unique<nn::StepModel>(*decoder);
  const std::vector<int32_t> ids = test_case.at("ids");
  ASSERT_TRUE(model->begin(2, 24).ok());
  std::vector<float> logits(kVocabulary);
  ASSERT_TRUE(model->prefill(0, {.ids = {ids.begin(), ids.begin() + 15}}, logits).ok());
  const nn::SequenceInput whole = {.ids = {ids.begin(), ids.begin() + 22},
                                   .shared = nn::SharedPrefix{.row = 0, .positions = 12}};
  ASSERT_TRUE(model->prefill(1, whole, logits).ok());
  const std::vector<double> wanted = test_case.at("logits").at(7);  // after position 21
  for (size_t i = 0; i < kVocabulary; ++i) ASSERT_NEAR(logits[i], wanted[i], 2e-5) << i;
}

/// Logits of a prompt and of steps after it; a row of `model` that has begun.
std::vector<float> continued(nn::SequenceModel& model, int64_t row, const std::vector<int32_t>& ids,
                             size_t prompt) {
  std::vector<float> all;
  std::vector<float> logits(kVocabulary);
  const nn::SequenceInput input = {
      .ids = {ids.begin(), ids.begin() + static_cast<int64_t>(prompt)}};
  EXPECT_TRUE(model.prefill(row, input, logits).ok());
  for (size_t i = prompt;; ++i) {
    all.insert(all.end(), logits.begin(), logits.end());
    if (i == ids.size()) return all;
    EXPECT_TRUE(model.decode({&row, 1}, {&ids[i], 1}, logits).ok());
  }
}

TEST_F(TinyGpt2Conformance, ARowHasTheSameBitsAloneAndBesideOthers) {
  const json test_case = first_gpt2();
  const auto decoder = load_gpt2(test_case);
  ASSERT_TRUE(decoder.ok());
  const auto model = std::make_unique<nn::StepModel>(*decoder);
  const std::vector<int32_t> ids = test_case.at("ids");
  const std::vector<int32_t> other = {3, 1, 4, 1, 5};
  ASSERT_TRUE(model->begin(1, 24).ok());
  const std::vector<float> alone = continued(*model, 0, {ids.begin(), ids.begin() + 14}, 11);

  ASSERT_TRUE(model->begin(3, 24).ok());
  std::vector<float> logits(kVocabulary);
  ASSERT_TRUE(model->prefill(0, {.ids = other}, logits).ok());
  ASSERT_TRUE(model->prefill(2, {.ids = {ids.begin(), ids.begin() + 11}}, logits).ok());
  ASSERT_TRUE(model->prefill(1, {.ids = {ids.begin(), ids.begin() + 20}}, logits).ok());
  const std::vector<int64_t> rows = {1, 2, 0};
  for (size_t i = 11; i < 14; ++i) {
    std::vector<float> step(3 * kVocabulary);
    const std::vector<int32_t> tokens = {7, ids[i], 9};
    ASSERT_TRUE(model->decode(rows, tokens, step).ok());
    for (size_t t = 0; t < kVocabulary; ++t) {
      ASSERT_EQ(step[kVocabulary + t], alone[(i - 10) * kVocabulary + t]) << i << " " << t;
    }
  }
}

TEST_F(TinyGpt2Conformance, RowsGoOnFromOneAnother) {
  const json test_case = first_gpt2();
  const auto decoder = load_gpt2(test_case);
  ASSERT_TRUE(decoder.ok());
  const auto model = std::make_unique<nn::StepModel>(*decoder);
  const std::vector<int32_t> ids = test_case.at("ids");
  ASSERT_TRUE(model->begin(2, 24).ok());
  std::vector<float> logits(kVocabulary);
  ASSERT_TRUE(model->prefill(0, {.ids = {ids.begin(), ids.begin() + 9}}, logits).ok());
  ASSERT_TRUE(model->prefill(1, {.ids = {5}}, logits).ok());
  const std::vector<int64_t> rows = {0, 1};
  const std::vector<int64_t> sources = {0, 0};
  ASSERT_TRUE(model->reassign(rows, sources).ok());
  std::vector<float> both(2 * kVocabulary);
  ASSERT_TRUE(model->decode(rows, std::vector<int32_t>{ids[9], ids[9]}, both).ok());
  const std::vector<double> wanted = test_case.at("logits").at(3);  // after position 9
  for (size_t i = 0; i < both.size(); ++i) ASSERT_NEAR(both[i], wanted[i % kVocabulary], 2e-5) << i;
}

TEST_F(TinyGpt2Conformance, PromptsThatCannotBeReadAreRefused) {
  const auto decoder = load_gpt2(first_gpt2());
  ASSERT_TRUE(decoder.ok());
  const auto model = std::make_unique<nn::StepModel>(*decoder);
  EXPECT_THAT(model->begin(1, 65).error().message, HasSubstr("window has 64"));
  ASSERT_TRUE(model->begin(1, 4).ok());
  std::vector<float> logits(kVocabulary);
  const auto refusal = [&](const nn::SequenceInput& input) {
    const Status read = model->prefill(0, input, logits);
    return read.ok() ? "read" : read.error().message;
  };
  EXPECT_THAT(refusal({.ids = {}}), HasSubstr("0 tokens"));
  EXPECT_THAT(refusal({.ids = {1, 2, 3, 4, 5}}), HasSubstr("5 tokens for a row of 4"));
  EXPECT_THAT(refusal({.ids = {40}}), HasSubstr("token id 40"));
  EXPECT_EQ(refusal({.ids = {1, 2}}), "read");
  EXPECT_THAT(refusal({.ids = {1, 2}}), HasSubstr("holds 2"));
}

std::string refusal(const json& test_case) {
  const auto decoder = load_gpt2(test_case);
  return decoder.ok() ? "loaded" : decoder.error().to_string();
}

TEST_F(TinyGpt2Conformance, WhatIsNotComputedIsRefusedByName) {
  const auto changed = [](const char* key, const json& value) {
    json test_case = first_gpt2();
    test_case["config"][key] = value;
    return refusal(test_case);
  };
  EXPECT_THAT(changed("add_cross_attention", true), HasSubstr("'add_cross_attention' on"));
  EXPECT_THAT(changed("scale_attn_weights", false), HasSubstr("'scale_attn_weights' off"));
  EXPECT_THAT(changed("scale_attn_by_inverse_layer_idx", true),
              HasSubstr("'scale_attn_by_inverse_layer_idx' on"));
  EXPECT_THAT(changed("reorder_and_upcast_attn", true), HasSubstr("'reorder_and_upcast_attn' on"));
  EXPECT_THAT(changed("activation_function", "tanh"), HasSubstr("activation 'tanh'"));
  EXPECT_THAT(changed("n_head", 5), HasSubstr("5 heads for a width of 32"));
  EXPECT_THAT(changed("n_layer", json()), HasSubstr("n_layer"));
  EXPECT_EQ(changed("scale_attn_weights", true), "loaded");
}

TEST_F(TinyGpt2Conformance, TensorsThatAreNotTheModelsAreNamed) {
  json test_case = first_gpt2();
  const std::string missing = test_case["tensors"][3]["name"];
  test_case["tensors"].erase(3);
  EXPECT_THAT(refusal(test_case), HasSubstr(missing.substr(std::string("transformer.").size())));
  const auto with = [](const char* name, const std::vector<int64_t>& shape) {
    json added = first_gpt2();
    added["tensors"].push_back({{"name", name}, {"shape", shape}, {"scale", 1}, {"offset", 0}});
    return refusal(added);
  };
  EXPECT_THAT(with("transformer.h.0.crossattention.q_attn.weight", {32, 32}),
              HasSubstr("unknown: h.0.crossattention.q_attn.weight"));
  // Masks that old files carry and heads of other tasks are no part of the model; a head must be
  // what it is tied to.
  EXPECT_EQ(with("transformer.h.0.attn.bias", {1, 1, 64, 64}), "loaded");
  EXPECT_EQ(with("h.1.attn.masked_bias", {}), "loaded");
  for (const char* head : {"score.weight", "multiple_choice_head.summary.weight"}) {
    EXPECT_EQ(with(head, {2, 32}), "loaded");
  }
  EXPECT_THAT(with("lm_head.weight", {40, 32}), HasSubstr("differs from the embedding"));
}

TEST_F(TinyGpt2Conformance, OtherTypesAreNearAndADeviceNeedsItsPlugin) {
  const qfs::test::TemporaryFolder folder;
  const json test_case = first_gpt2();
  const auto directory =
      checkpoints::ModelDirectory::open(qfs::test::write_tiny_checkpoint(folder, test_case));
  ASSERT_TRUE(directory.ok());
  const auto network = load_network(*directory);
  ASSERT_TRUE(network.ok()) << network.error().to_string();
  ResourceCache cache;
  const auto logits_of = [&](const char* dtype) {
    const auto model = (*network)->open({.dtype = dtype}, "", cache);
    EXPECT_TRUE(model.ok()) << model.error().to_string();
    std::vector<float> logits(kVocabulary);
    EXPECT_TRUE((*model)->begin(1, 24).ok());
    EXPECT_TRUE((*model)->prefill(0, {.ids = test_case.at("ids")}, logits).ok());
    return logits;
  };
  const std::vector<float> exact = logits_of("float32");
  const std::vector<float> rounded = logits_of("bfloat16");
  EXPECT_NE(exact, rounded);
  for (size_t i = 0; i < kVocabulary; ++i) EXPECT_NEAR(exact[i], rounded[i], 0.1) << i;
  const auto on_gpu = (*network)->open({.device = "cuda"}, "", cache);
  ASSERT_FALSE(on_gpu.ok());
  EXPECT_EQ(on_gpu.error().kind, ErrorKind::unavailable);
}

TEST(Gpt2Work, IsCountedFromTheWeights) {
  const qfs::test::TemporaryFolder folder;
  const auto directory =
      checkpoints::ModelDirectory::open(qfs::test::write_tiny_checkpoint(folder, first_gpt2()));
  ASSERT_TRUE(directory.ok());
  const auto network = load_gpt2_folder(*directory);
  ASSERT_TRUE(network.ok()) << network.error().to_string();
  // Two layers of width 32 with 128 inside; 40 tokens.
  const nn::ModelWork work = (*network)->work({});
  const int64_t matrices = 96 * 32 + 32 * 32 + 2 * 128 * 32;
  EXPECT_EQ(work.output.elements(), 2 * matrices);
  // Biases of the four products, and two norms.
  EXPECT_EQ(work.output.bytes, 4 * 2 * (matrices + 96 + 32 + 128 + 32 + 2 * 64));
  EXPECT_EQ(work.output.width, 32);
  EXPECT_EQ(work.head.elements(), 40 * 32);
  EXPECT_EQ(work.head_bytes, 4 * (40 * 32 + 64));
  EXPECT_EQ(work.cache_bytes, 2 * 2 * 32 * 4);
  EXPECT_FALSE(work.encoder_decoder());
}

}  // namespace
}  // namespace qfs::architectures
