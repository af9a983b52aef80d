// Greedy search and beam search over tiny random models produce the ids and scores of transformers
// 5.23 and, by the older rules, 4.30.2; values by make_generation_expected.py.
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/architectures.h"
#include "methods/models/architectures/bart/bart.h"
#include "methods/models/decoding/generator.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/step_model.h"
#include "tests/support/letter_tokenizer.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::decoding {
namespace {

using nlohmann::json;
using nn::SequenceInput;

constexpr double kScoreTolerance = 1e-4;
constexpr int32_t kStop = 2;

json expected(const std::string& name) {
  std::ifstream file("tests/conformance/models/decoding/" + name);
  return json::parse(file);
}

std::unique_ptr<nn::SequenceModel> open(const json& test_case) {
  const qfs::test::TemporaryFolder folder;
  const auto directory =
      checkpoints::ModelDirectory::open(write_tiny_checkpoint(folder, test_case));
  EXPECT_TRUE(directory.ok());
  if (test_case.at("end_bias") == 0) {
    const auto network = architectures::load_network(*directory);
    EXPECT_TRUE(network.ok()) << network.error().to_string();
    ResourceCache cache;
    return *(*network)->open({}, "", cache);
  }
  const auto weights = architectures::load_bart_weights(*directory);
  EXPECT_TRUE(weights.ok()) << weights.error().to_string();
  auto biased = std::make_shared<architectures::BartWeights>(**weights);
  biased->head.bias = at::zeros({biased->head.weight.size(0)});
  biased->head.bias.mutable_data_ptr<float>()[kStop] = test_case.at("end_bias");
  return std::make_unique<nn::StepModel>(architectures::make_bart_decoder(biased));
}

DecodingOptions options_of(const json& given, BeamRules rules) {
  DecodingOptions options;
  options.max_new_tokens = given.at("max_new_tokens");
  options.min_new_tokens = given.value("min_new_tokens", int64_t{0});
  options.no_repeat_ngram = given.value("no_repeat_ngram", int64_t{0});
  options.stop_ids = {kStop};
  if (given.contains("forced_first")) options.forced_first = given.at("forced_first");
  if (given.contains("forced_last")) options.forced_last = given.at("forced_last");
  if (!given.contains("beams")) return options;
  BeamOptions beams;
  beams.count = given.at("beams");
  beams.length_penalty = given.value("length_penalty", 1.0);
  beams.rules = rules;
  const std::string early = given.value("early_stopping", "no");
  beams.early_stopping = early == "yes"     ? EarlyStopping::yes
                         : early == "never" ? EarlyStopping::never
                                            : EarlyStopping::no;
  options.beams = beams;
  return options;
}

void expect_output(const Generated& actual, const json& wanted, const DecodingOptions& options) {
  EXPECT_EQ(actual.ids, wanted.at("ids").get<std::vector<int32_t>>());
  EXPECT_EQ(actual.text, qfs::test::LetterTokenizer().decode(actual.ids));
  ASSERT_EQ(actual.score.has_value(), options.beams.has_value());
  if (actual.score) {
    // Relative above 1, as for logits: at 700, float32 has a digit every 6e-5.
    const double score = wanted.at("score");
    EXPECT_NEAR(*actual.score, score, kScoreTolerance * std::max(1.0, std::abs(score)));
  }
}

class GenerationConformance : public ::testing::TestWithParam<const char*> {
 protected:
  GenerationConformance() { EXPECT_TRUE(nn::configure_torch({}).ok()); }
  BeamRules rules() const {
    return std::string(GetParam()).find("scorer") != std::string::npos ? BeamRules::scorer
                                                                       : BeamRules::vectorized;
  }
};

TEST_P(GenerationConformance, IdsAndScoresEqualTransformersAloneAndInABatch) {
  const json file = expected(GetParam());
  ASSERT_GE(file.at("cases").size(), 4U);
  const auto tokenizer = std::make_shared<qfs::test::LetterTokenizer>();
  for (const json& test_case : file.at("cases")) {
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    Generator generator(tokenizer, open(test_case));
    std::vector<SequenceInput> inputs;
    for (const json& row : test_case.at("inputs")) {
      inputs.push_back({.ids = row.at("ids"), .global_positions = row.at("global")});
    }
    for (size_t i = 0; i < test_case.at("options").size(); ++i) {
      const json& given = test_case.at("options").at(i);
      SCOPED_TRACE(given.dump());
      const DecodingOptions options = options_of(given, rules());
      const auto batch = generator.generate(inputs, options);
      ASSERT_TRUE(batch.ok()) << batch.error().to_string();
      for (size_t row = 0; row < inputs.size(); ++row) {
        SCOPED_TRACE("input " + std::to_string(row));
        const json& wanted = test_case.at("outputs").at(i).at(row);
        expect_output(batch->rows[row], wanted, options);
        const auto alone = generator.generate({&inputs[row], 1}, options);
        ASSERT_TRUE(alone.ok());
        expect_output(alone->rows.front(), wanted, options);
        EXPECT_EQ(alone->rows.front().score, batch->rows[row].score);  // equal bits
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, GenerationConformance,
                         ::testing::Values("generation_expected.json",
                                           "generation_scorer_expected.json"),
                         [](const auto& info) {
                           return std::string(info.param).find("scorer") != std::string::npos
                                      ? "scorer"
                                      : "vectorized";
                         });

}  // namespace
}  // namespace qfs::decoding
