// CpuEncoder gives TransformerEncoder's states on tiny encoders of every kind, which equal those of
// transformers (tiny_encoders_test.cpp), and bits that depend on no other text and no thread.
#include "methods/models/architectures/bert/cpu_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/bert/transformer_encoder.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::architectures {
namespace {

using nlohmann::json;
using Texts = std::vector<std::vector<int32_t>>;

Result<std::vector<std::vector<float>>> encoded(CpuEncoder& encoder, const Texts& texts) {
  std::vector<std::vector<float>> states;
  std::vector<const std::vector<int32_t>*> ids;
  std::vector<float*> outs;
  for (const auto& text : texts) {
    states.emplace_back(text.size() * static_cast<size_t>(encoder.config().hidden));
    ids.push_back(&text);
  }
  for (auto& text : states) outs.push_back(text.data());
  if (Status status = encoder.encode(ids, outs); !status.ok()) return status.error();
  return states;
}

class CpuEncoderTest : public ::testing::Test {
 protected:
  CpuEncoderTest() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    std::ifstream stream("tests/conformance/models/architectures/tiny_encoders_expected.json");
    file_ = json::parse(stream);
  }

  static std::shared_ptr<const EncoderWeights> weights_of(const json& test_case) {
    const qfs::test::TemporaryFolder folder;
    const auto directory =
        checkpoints::ModelDirectory::open(write_tiny_checkpoint(folder, test_case));
    return *load_encoder_weights(*directory);
  }

  static Texts texts_of(const json& test_case) {
    Texts texts;
    for (const json& text : test_case.at("texts")) texts.push_back(text.at("ids"));
    return texts;
  }

  json file_;
};

TEST_F(CpuEncoderTest, StatesAfterEveryLayerAreThoseOfTheOtherEncoder) {
  size_t cases = 0;
  for (const json& test_case : file_.at("cases")) {
    if (test_case.at("config").at("model_type") == "led") continue;
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    const auto weights = weights_of(test_case);
    const TransformerEncoder other(weights);
    for (int64_t layers = 0; layers <= weights->config.layers; ++layers) {
      CpuEncoder encoder(weights, layers, 2);
      const Texts texts = texts_of(test_case);
      const auto states = encoded(encoder, texts);
      ASSERT_TRUE(states.ok()) << states.error().to_string();
      for (size_t i = 0; i < texts.size(); ++i) {
        const EncoderInput input{texts[i], {}};
        const at::Tensor expected = other.hidden_states({&input, 1}, layers)->contiguous();
        for (size_t k = 0; k < (*states)[i].size(); ++k) {
          const double value = expected.const_data_ptr<float>()[k];
          ASSERT_NEAR((*states)[i][k], value, 1e-5 * std::max(1.0, std::abs(value))) << i;
        }
      }
    }
    ++cases;
  }
  EXPECT_GE(cases, 8U);
}

TEST_F(CpuEncoderTest, BitsDependOnNoOtherTextAndNoThread) {
  const json& test_case = file_.at("cases").at(0);
  const auto weights = weights_of(test_case);
  Texts texts;
  for (int i = 0; i < 200; ++i) {
    texts.emplace_back(1 + i % 13, 3 + i % 20);
    texts.back().front() = 2 + i % 7;
  }
  CpuEncoder one(weights, weights->config.layers, 1);
  CpuEncoder three(weights, weights->config.layers, 3);
  const auto together = encoded(one, texts);
  EXPECT_EQ(*encoded(three, texts), *together);
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSERT_EQ(encoded(three, {texts[i]})->front(), (*together)[i]) << i;
  }
}

TEST_F(CpuEncoderTest, TextsThatTheEncoderCannotReadAreRefused) {
  const auto weights = weights_of(file_.at("cases").at(0));
  CpuEncoder encoder(weights, 1, 1);
  const auto refusal = [&](const std::vector<int32_t>& text) {
    const auto states = encoded(encoder, {text});
    return states.ok() ? "encoded" : states.error().message;
  };
  const auto longest = static_cast<size_t>(weights->config.max_tokens());
  EXPECT_EQ(refusal(std::vector<int32_t>(longest, 5)), "encoded");
  EXPECT_THAT(refusal(std::vector<int32_t>(longest + 1, 5)), testing::HasSubstr("17 tokens"));
  EXPECT_THAT(refusal({}), testing::HasSubstr("0 tokens"));
  EXPECT_THAT(refusal({1000}), testing::HasSubstr("token id 1000"));
  EXPECT_THAT(refusal({-1}), testing::HasSubstr("token id -1"));
}

}  // namespace
}  // namespace qfs::architectures
