// A trained encoder-decoder with norms in front of its blocks (OpenNMT's Arabic transliteration
// model, in CTranslate2's format) scores given outputs and finds the best ones as its publishers'
// tests say. Skipped by name where the checkpoint is absent.
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/decoding/generator.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/step_model.h"
#include "tests/support/letter_tokenizer.h"
#include "tests/support/shared_data.h"

namespace qfs::decoding {
namespace {

using architectures::BartWeights;
using architectures::EncoderWeights;
using nlohmann::json;
using nn::LayerNorm;
using nn::Linear;

constexpr int64_t kWidth = 32;
constexpr int64_t kLayers = 6;
constexpr int64_t kPositions = 64;
constexpr int32_t kBegin = 1;
constexpr int32_t kEnd = 2;
constexpr double kTolerance = 1e-5;

/// The float variables of a model.bin of binary version 2.
class Variables {
 public:
  explicit Variables(const std::filesystem::path& path) : stream_(path, std::ios::binary) {
    integer<uint32_t>();
    text();
    integer<uint32_t>();
    const auto count = integer<uint32_t>();
    for (uint32_t i = 0; i < count && stream_.good(); ++i) {
      const std::string name = text();
      std::vector<int64_t> shape(integer<uint8_t>());
      for (int64_t& extent : shape) extent = integer<uint32_t>();
      EXPECT_EQ(integer<uint8_t>(), 4) << name;
      std::vector<float> values(integer<uint32_t>());
      stream_.read(reinterpret_cast<char*>(values.data()),
                   static_cast<std::streamsize>(values.size() * sizeof(float)));
      tensors_[name] = at::from_blob(values.data(), shape, at::kFloat).clone();
    }
    EXPECT_TRUE(stream_.good());
  }

  at::Tensor tensor(const std::string& name) const { return tensors_.at(name); }
  Linear linear(const std::string& name) const {
    return {tensor(name + "/weight"), tensor(name + "/bias")};
  }
  LayerNorm norm(const std::string& name) const {
    return {tensor(name + "/layer_norm/gamma"), tensor(name + "/layer_norm/beta")};
  }

 private:
  template <class T>
  T integer() {
    T value = 0;
    stream_.read(reinterpret_cast<char*>(&value), sizeof(value));
    return value;
  }
  std::string text() {
    std::string value(integer<uint16_t>(), '\0');
    stream_.read(value.data(), static_cast<std::streamsize>(value.size()));
    value.pop_back();
    return value;
  }

  std::ifstream stream_;
  std::map<std::string, at::Tensor> tensors_;
};

/// Sines, then cosines, of positions from 1; the slowest wave has the length 10000.
at::Tensor positions() {
  at::Tensor table = at::empty({kPositions, kWidth}, at::kFloat);
  float* out = table.mutable_data_ptr<float>();
  const double step = std::log(10000.0) / (kWidth / 2.0 - 1);
  for (int64_t row = 0; row < kPositions; ++row) {
    for (int64_t i = 0; i < kWidth; ++i) {
      const double angle =
          static_cast<double>(row + 1) * std::exp(-step * static_cast<double>(i % (kWidth / 2)));
      out[row * kWidth + i] =
          static_cast<float>(i < kWidth / 2 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

std::shared_ptr<const BartWeights> load(const std::filesystem::path& path) {
  const Variables file(path);
  architectures::BartConfig config;
  config.encoder.layers = kLayers;
  config.encoder.hidden = kWidth;
  config.encoder.intermediate = 4 * kWidth;
  config.encoder.heads = 8;
  config.encoder.position_rows = kPositions;
  config.encoder.embedding_scale = std::sqrt(static_cast<double>(kWidth));
  config.encoder.norm_eps = 1e-6;
  config.encoder.pre_norm = true;
  config.encoder.embedding_norm = false;
  config.encoder.activation = nn::Activation::relu;
  config.decoder_layers = kLayers;
  config.decoder_heads = 8;
  config.decoder_intermediate = 4 * kWidth;
  config.decoder_position_rows = kPositions;
  config.decoder_start = {kBegin};
  auto encoder = std::make_shared<EncoderWeights>();
  encoder->token_embeddings = file.tensor("encoder/embeddings/weight");
  config.encoder.vocabulary = encoder->token_embeddings.size(0);
  encoder->config = config.encoder;
  encoder->positions = positions();
  encoder->last_norm = file.norm("encoder");
  auto weights = std::make_shared<BartWeights>();
  weights->config = config;
  weights->token_embeddings = file.tensor("decoder/embeddings/weight");
  weights->positions = positions();
  weights->last_norm = file.norm("decoder");
  weights->head = file.linear("decoder/projection");
  for (int64_t i = 0; i < kLayers; ++i) {
    const std::string layer = "/layer_" + std::to_string(i) + "/";
    const std::string read = "encoder" + layer;
    encoder->layers.push_back({file.linear(read + "self_attention/linear_0"),
                               file.linear(read + "self_attention/linear_1"),
                               file.norm(read + "self_attention"),
                               file.linear(read + "ffn/linear_0"),
                               file.linear(read + "ffn/linear_1"), file.norm(read + "ffn")});
    const std::string write = "decoder" + layer;
    weights->layers.push_back(
        {file.linear(write + "self_attention/linear_0"),
         file.linear(write + "self_attention/linear_1"), file.norm(write + "self_attention"),
         file.linear(write + "attention/linear_0"), file.linear(write + "attention/linear_1"),
         file.linear(write + "attention/linear_2"), file.norm(write + "attention"),
         file.linear(write + "ffn/linear_0"), file.linear(write + "ffn/linear_1"),
         file.norm(write + "ffn")});
  }
  weights->encoder = encoder;
  return weights;
}

class Vocabulary {
 public:
  explicit Vocabulary(const std::filesystem::path& path) {
    std::ifstream stream(path);
    for (std::string line; std::getline(stream, line);) ids_.emplace(line, ids_.size());
  }
  std::vector<int32_t> ids(const json& tokens) const {
    std::vector<int32_t> ids;
    for (const json& token : tokens) {
      ids.push_back(static_cast<int32_t>(ids_.at(token.get<std::string>())));
    }
    return ids;
  }

 private:
  std::map<std::string, size_t> ids_;
};

class Transliteration : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = qfs::test::shared_data("checkpoints/ct2-aren-transliteration");
    const auto model = folder / "v2/aren-transliteration";
    QFS_SKIP_WITHOUT_DATA(model / "model.bin");
    ASSERT_TRUE(nn::configure_torch({}).ok());
    std::ifstream stream(folder / "expected.json");
    expected_ = json::parse(stream);
    source_ = std::make_unique<Vocabulary>(model / "source_vocabulary.txt");
    target_ = std::make_unique<Vocabulary>(model / "target_vocabulary.txt");
    model_ = std::make_unique<nn::StepModel>(
        architectures::make_bart_decoder(load(model / "model.bin")));
  }

  json expected_;
  std::unique_ptr<Vocabulary> source_;
  std::unique_ptr<Vocabulary> target_;
  std::unique_ptr<nn::SequenceModel> model_;
};

double log_probability(const std::vector<float>& logits, int32_t id) {
  double sum = 0;
  const double largest = *std::ranges::max_element(logits);
  for (const float logit : logits) sum += std::exp(logit - largest);
  return logits[static_cast<size_t>(id)] - largest - std::log(sum);
}

TEST_F(Transliteration, given_outputs_have_the_published_log_probabilities) {
  std::vector<float> logits(static_cast<size_t>(model_->shape().vocabulary));
  ASSERT_EQ(expected_.at("cases").size(), 4U);
  for (const json& test_case : expected_.at("cases")) {
    std::vector<int32_t> target = target_->ids(test_case.at("target"));
    target.push_back(kEnd);
    ASSERT_TRUE(model_->begin(1, kPositions).ok());
    ASSERT_TRUE(model_->prefill(0, {.ids = source_->ids(test_case.at("source"))}, logits).ok());
    const std::vector<double> scores = test_case.at("tokens_score");
    ASSERT_EQ(scores.size(), target.size());
    for (size_t i = 0; i < target.size(); ++i) {
      EXPECT_NEAR(log_probability(logits, target[i]), scores[i], kTolerance) << i;
      const int64_t row = 0;
      ASSERT_TRUE(model_->decode({&row, 1}, {&target[i], 1}, logits).ok());
    }
  }
}

TEST_F(Transliteration, the_best_outputs_are_found_also_after_a_given_beginning) {
  Generator generator(std::make_shared<qfs::test::LetterTokenizer>(), std::move(model_));
  DecodingOptions options{.max_new_tokens = 20, .stop_ids = {kEnd}};
  options.beams = BeamOptions{.count = 2};
  ASSERT_EQ(expected_.at("best_hypotheses").size(), 5U);
  for (const json& test_case : expected_.at("best_hypotheses")) {
    const std::vector<int32_t> prefix =
        target_->ids(test_case.value("target_prefix", json::array()));
    nn::SequenceInput input = {.ids = source_->ids(test_case.at("source"))};
    input.decoder_ids = {kBegin};
    input.decoder_ids.insert(input.decoder_ids.end(), prefix.begin(), prefix.end());
    const auto result = generator.generate({&input, 1}, options);
    ASSERT_TRUE(result.ok()) << result.error().to_string();
    std::vector<int32_t> whole = prefix;
    const auto& produced = result->rows.front().ids;
    whole.insert(whole.end(), produced.begin(), produced.end());
    EXPECT_EQ(whole, target_->ids(test_case.at("target"))) << test_case.dump();
  }
}

}  // namespace
}  // namespace qfs::decoding
