// Logits of tiny random models of the LLaMA family, read from Hugging Face folders, equal those of
// transformers 5.23; values by make_tiny_llama_expected.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/llama/cpu_llama.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/step_model.h"
#include "tests/support/expected_logits.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::architectures {
namespace {

using nlohmann::json;
using qfs::test::expect_logits;
using ::testing::HasSubstr;

json llama_file(const std::string& name = "tiny_llama_expected.json") {
  std::ifstream file("tests/conformance/models/architectures/" + name);
  return json::parse(file);
}

Result<std::shared_ptr<const LlamaWeights>> load_llama(const std::string& folder) {
  const auto directory = checkpoints::ModelDirectory::open(folder);
  if (!directory.ok()) return directory.error();
  return load_llama_weights(*directory);
}

class TinyLlamaConformance : public ::testing::Test {
 protected:
  TinyLlamaConformance() { EXPECT_TRUE(nn::configure_torch({}).ok()); }
};

void expect_logits_of_all(const json& file) {
  const size_t every = file.at("every");
  for (const json& test_case : file.at("cases")) {
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    const qfs::test::TemporaryFolder folder;
    const auto weights = load_llama(write_tiny_checkpoint(folder, test_case));
    ASSERT_TRUE(weights.ok()) << weights.error().to_string();
    const auto model = make_cpu_model(*weights);
    expect_logits(*model, test_case, 1, every);
    expect_logits(*model, test_case, 10, every);
    expect_logits(*model, test_case, test_case.at("ids").size(), every);
    const auto copy = copy_to_device(**weights, at::kCPU, at::kFloat);
    ASSERT_TRUE(copy.ok());
    expect_logits(
        *std::make_unique<nn::DeviceModel>(make_llama_decoder(*copy), nn::cpu_device_services()),
        test_case, 7, every);
    expect_logits(*std::make_unique<nn::StepModel>(make_llama_decoder(*copy)), test_case, 7, every);
  }
}

TEST_F(TinyLlamaConformance, LogitsOfEveryKindEqualTransformers) {
  const json file = llama_file();
  ASSERT_GE(file.at("cases").size(), 13U);
  expect_logits_of_all(file);
}

TEST_F(TinyLlamaConformance, LogitsBehindANormalisedEmbeddingEqualOpenLlama) {
  const json file = llama_file("tiny_bluelm_expected.json");
  ASSERT_EQ(file.at("cases").size(), 2U);
  EXPECT_NE(file.at("cases").at(0).at("logits"), file.at("cases").at(1).at("logits"));
  expect_logits_of_all(file);
}

json first_llama() { return llama_file().at("cases").at(0); }

std::string llama_refusal(json test_case) {
  const qfs::test::TemporaryFolder folder;
  const auto weights = load_llama(write_tiny_checkpoint(folder, test_case));
  return weights.ok() ? "loaded" : weights.error().to_string();
}

TEST_F(TinyLlamaConformance, WhatIsNotComputedIsRefusedByName) {
  json test_case = first_llama();
  test_case["config"]["model_type"] = "gpt2";
  EXPECT_THAT(llama_refusal(test_case), HasSubstr("llama, mistral, qwen2, BlueLM"));
  test_case = first_llama();
  test_case["config"]["rope_scaling"] = {{"rope_type", "longrope"}, {"factor", 2.0}};
  EXPECT_THAT(llama_refusal(test_case), HasSubstr("RoPE scaling 'longrope'"));
  test_case = first_llama();
  test_case["config"]["hidden_act"] = "gelu";
  EXPECT_THAT(llama_refusal(test_case), HasSubstr("activation 'gelu'"));
  test_case = first_llama();
  test_case["config"]["num_key_value_heads"] = 3;
  EXPECT_THAT(llama_refusal(test_case), HasSubstr("3 key heads"));
}

TEST_F(TinyLlamaConformance, MissingAndUnknownTensorsAreNamed) {
  json test_case = first_llama();
  test_case["tensors"].erase(3);
  EXPECT_THAT(llama_refusal(test_case),
              HasSubstr(first_llama()["tensors"][3]["name"].get<std::string>()));
  test_case = first_llama();
  test_case["tensors"].push_back(
      {{"name", "model.layers.0.extra.weight"}, {"shape", {2}}, {"scale", 1}, {"offset", 0}});
  EXPECT_THAT(llama_refusal(test_case), HasSubstr("model.layers.0.extra.weight"));
  test_case = first_llama();
  test_case["config"]["attention_bias"] = true;
  EXPECT_THAT(llama_refusal(test_case), HasSubstr("q_proj.bias"));
}

TEST_F(TinyLlamaConformance, ASavedFrequencyBufferIsNoPartOfTheModel) {
  for (const char* name :
       {"model.layers.0.self_attn.rotary_emb.inv_freq", "model.rotary_emb.inv_freq"}) {
    json test_case = first_llama();
    test_case["tensors"].push_back({{"name", name}, {"shape", {4}}, {"scale", 1}, {"offset", 0}});
    EXPECT_EQ(llama_refusal(test_case), "loaded");
  }
}

TEST_F(TinyLlamaConformance, PositionsThatAConfigurationDoesNotNameAreThoseOfItsClass) {
  for (const auto& [type, positions] :
       {std::pair("llama", 2048), {"mistral", 4096}, {"qwen2", 32768}, {"BlueLM", 2048}}) {
    json test_case = first_llama();
    test_case["config"]["model_type"] = type;
    test_case["config"].erase("max_position_embeddings");
    const qfs::test::TemporaryFolder folder;
    const auto directory =
        checkpoints::ModelDirectory::open(write_tiny_checkpoint(folder, test_case));
    ASSERT_TRUE(directory.ok());
    const auto config = read_llama_config(*directory);
    ASSERT_TRUE(config.ok()) << config.error().to_string();
    EXPECT_EQ(config->context, positions) << type;
  }
}

TEST_F(TinyLlamaConformance, TheWindowEndsWhereScalingOrSlidingWouldBegin) {
  const json file = llama_file();
  for (const json& test_case : file.at("cases")) {
    const std::string name = test_case.at("name");
    const qfs::test::TemporaryFolder folder;
    const auto weights = load_llama(write_tiny_checkpoint(folder, test_case));
    ASSERT_TRUE(weights.ok());
    EXPECT_EQ((*weights)->config.context, name == "mistral below its window" ? 32 : 64) << name;
  }
}

TEST_F(TinyLlamaConformance, AMistralThatDoesNotNameItsWindowHasTheDefaultOne) {
  json test_case = first_llama();
  json& config = test_case["config"];
  config["model_type"] = "mistral";
  config["max_position_embeddings"] = 5000;
  const auto context = [&] {
    const qfs::test::TemporaryFolder folder;
    const auto weights = load_llama(write_tiny_checkpoint(folder, test_case));
    return weights.ok() ? (*weights)->config.context : -1;
  };
  EXPECT_EQ(context(), 4096);
  config["sliding_window"] = nullptr;
  EXPECT_EQ(context(), 5000);
  config.erase("sliding_window");
  config["model_type"] = "llama";
  EXPECT_EQ(context(), 5000);
}

TEST_F(TinyLlamaConformance, ScalingStartsFromAllPositionsAlsoWhereAWindowEndsBefore) {
  json test_case = first_llama();
  json& config = test_case["config"];
  config["model_type"] = "mistral";
  config["sliding_window"] = 16;
  config["rope_scaling"] = {{"rope_type", "yarn"}, {"factor", 2.0}};
  const qfs::test::TemporaryFolder folder;
  const auto weights = load_llama(write_tiny_checkpoint(folder, test_case));
  ASSERT_TRUE(weights.ok());
  EXPECT_EQ((*weights)->config.context, 16);
  EXPECT_EQ((*weights)->config.rope.original_context, 64);
}

}  // namespace
}  // namespace qfs::architectures
