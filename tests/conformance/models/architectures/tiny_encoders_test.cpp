// Hidden states of tiny random encoders, read from Hugging Face folders, equal those of
// transformers 5.23; values by make_tiny_encoders_expected.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/bert/transformer_encoder.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::architectures {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kEncoderTolerance = 2e-5;

json encoders_file() {
  std::ifstream file("tests/conformance/models/architectures/tiny_encoders_expected.json");
  return json::parse(file);
}

Result<std::shared_ptr<const EncoderWeights>> load(const json& test_case) {
  const qfs::test::TemporaryFolder folder;
  const auto directory =
      checkpoints::ModelDirectory::open(write_tiny_checkpoint(folder, test_case));
  if (!directory.ok()) return directory.error();
  return load_encoder_weights(*directory);
}

std::vector<EncoderInput> texts_of(const json& test_case) {
  std::vector<EncoderInput> texts;
  for (const json& text : test_case.at("texts")) {
    texts.push_back({text.at("ids").get<std::vector<int32_t>>(),
                     text.at("segments").get<std::vector<int32_t>>()});
  }
  return texts;
}

/// `states`: [tokens of the longest text, hidden].
void expect_states(const at::Tensor& states, const std::vector<double>& values) {
  const float* data = states.const_data_ptr<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(data[i], values[i], kEncoderTolerance * std::max(1.0, std::abs(values[i]))) << i;
  }
}

class TinyEncoderConformance : public ::testing::Test {
 protected:
  TinyEncoderConformance() { EXPECT_TRUE(nn::configure_torch({}).ok()); }
};

TEST_F(TinyEncoderConformance, StatesAfterEveryLayerEqualTransformersAloneAndPadded) {
  const json file = encoders_file();
  ASSERT_GE(file.at("cases").size(), 8U);
  for (const json& test_case : file.at("cases")) {
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    const auto weights = load(test_case);
    ASSERT_TRUE(weights.ok()) << weights.error().to_string();
    const TransformerEncoder encoder(*weights);
    const std::vector<EncoderInput> texts = texts_of(test_case);
    const json& layers = test_case.at("states");
    ASSERT_EQ(layers.size(), static_cast<size_t>(encoder.config().layers) + 1);
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      const auto batch = encoder.hidden_states(texts, static_cast<int64_t>(layer));
      ASSERT_TRUE(batch.ok()) << batch.error().to_string();
      for (size_t i = 0; i < texts.size(); ++i) {
        SCOPED_TRACE("layer " + std::to_string(layer) + ", text " + std::to_string(i));
        const std::vector<double> values = layers[layer][i];
        expect_states(batch->select(0, static_cast<int64_t>(i)), values);
        const auto alone = encoder.hidden_states({&texts[i], 1}, static_cast<int64_t>(layer));
        ASSERT_TRUE(alone.ok());
        ASSERT_EQ(alone->numel(), static_cast<int64_t>(values.size()));
        expect_states(alone->select(0, 0), values);
      }
    }
  }
}

json named_case(const std::string& name) {
  const json file = encoders_file();
  for (const json& test_case : file.at("cases")) {
    if (test_case.at("name") == name) return test_case;
  }
  return {};
}

TEST_F(TinyEncoderConformance, TextsThatTheEncoderCannotReadAreRefused) {
  const auto weights = load(named_case("roberta"));
  ASSERT_TRUE(weights.ok());
  const TransformerEncoder encoder(*weights);
  const auto refusal = [&](const EncoderInput& text, int64_t layers = 2) {
    const auto states = encoder.hidden_states({&text, 1}, layers);
    return states.ok() ? "encoded" : states.error().message;
  };
  EXPECT_EQ(encoder.config().max_tokens(), 16);
  EXPECT_EQ(refusal({std::vector<int32_t>(16, 5), {}}), "encoded");
  EXPECT_THAT(refusal({std::vector<int32_t>(17, 5), {}}), HasSubstr("17 tokens"));
  EXPECT_THAT(refusal({{}, {}}), HasSubstr("0 tokens"));
  EXPECT_THAT(refusal({{30}, {}}), HasSubstr("token id 30"));
  EXPECT_THAT(refusal({{5}, {1}}), HasSubstr("segment 1"));
  EXPECT_THAT(refusal({{5, 6}, {0}}), HasSubstr("1 segments for 2 tokens"));
  EXPECT_THAT(refusal({{5}, {}}, 3), HasSubstr("layer 3"));
}

TEST_F(TinyEncoderConformance, WrongCheckpointsNameWhatIsWrong) {
  json test_case = named_case("bert");
  test_case["tensors"].erase(0);
  test_case["tensors"].push_back(
      {{"name", "encoder.layer.0.extra.weight"}, {"shape", {2}}, {"scale", 1}, {"offset", 0}});
  const auto weights = load(test_case);
  ASSERT_FALSE(weights.ok());
  EXPECT_THAT(weights.error().message, AllOf(HasSubstr("1 missing: embeddings.LayerNorm.bias"),
                                             HasSubstr("1 unknown: encoder.layer.0.extra.weight")));
  test_case = named_case("bert");
  test_case["config"]["model_type"] = "t5";
  EXPECT_THAT(load(test_case).error().message,
              HasSubstr("bart, bert, distilbert, dpr, led, mbart, pegasus, roberta"));
  test_case = named_case("bert");
  test_case["config"]["position_embedding_type"] = "relative_key";
  EXPECT_THAT(load(test_case).error().message, HasSubstr("relative_key"));
}

}  // namespace
}  // namespace qfs::architectures
