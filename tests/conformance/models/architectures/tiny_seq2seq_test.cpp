// Encoder states and decoder logits of tiny random BART and LED models, read from folders, equal
// those of transformers 5.23; values by make_tiny_seq2seq_expected.py.
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/step_model.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::architectures {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr double kSeq2SeqTolerance = 2e-5;

json seq2seq_file() {
  std::ifstream file("tests/conformance/models/architectures/tiny_seq2seq_expected.json");
  return json::parse(file);
}

json case_named(const std::string& name) {
  const json file = seq2seq_file();
  for (const json& test_case : file.at("cases")) {
    if (test_case.at("name") == name) return test_case;
  }
  ADD_FAILURE() << "no case " << name;
  return {};
}

Result<std::shared_ptr<const BartWeights>> load(const json& test_case) {
  const qfs::test::TemporaryFolder folder;
  const auto directory =
      checkpoints::ModelDirectory::open(write_tiny_checkpoint(folder, test_case));
  if (!directory.ok()) return directory.error();
  return load_bart_weights(*directory);
}

nn::SequenceInput input_of(const json& row) {
  return {.ids = row.at("ids"),
          .global_positions = row.at("global"),
          .decoder_ids = row.at("decoder_ids")};
}

void expect_near(const float* actual, const std::vector<double>& values, const char* what) {
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(actual[i], values[i], kSeq2SeqTolerance * std::max(1.0, std::abs(values[i])))
        << what << " " << i;
  }
}

class TinySeq2SeqConformance : public ::testing::Test {
 protected:
  TinySeq2SeqConformance() { EXPECT_TRUE(nn::configure_torch({}).ok()); }
};

TEST_F(TinySeq2SeqConformance, EncoderStatesEqualTransformers) {
  const json file = seq2seq_file();
  ASSERT_GE(file.at("cases").size(), 8U);
  for (const json& test_case : file.at("cases")) {
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    const auto weights = load(test_case);
    ASSERT_TRUE(weights.ok()) << weights.error().to_string();
    for (const json& row : test_case.at("inputs")) {
      SCOPED_TRACE(std::to_string(row.at("ids").size()) + " tokens");
      const auto states = make_bart_decoder(*weights)->encode(input_of(row));
      ASSERT_TRUE(states.ok()) << states.error().to_string();
      const std::vector<double> values = row.at("states");
      const auto width = static_cast<size_t>(states->size(2));
      const std::vector<size_t> shown = row.at("shown");
      ASSERT_EQ(values.size(), shown.size() * width);
      for (size_t i = 0; i < shown.size(); ++i) {
        SCOPED_TRACE("position " + std::to_string(shown[i]));
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * width);
        expect_near(states->const_data_ptr<float>() + shown[i] * width,
                    {begin, begin + static_cast<std::ptrdiff_t>(width)}, "state");
      }
    }
  }
}

/// Logits after every third decoder id: read at once, or one by one.
void expect_logits(nn::SequenceModel& model, const json& row, bool stepwise) {
  const nn::SequenceInput whole = input_of(row);
  std::vector<float> logits(static_cast<size_t>(model.shape().vocabulary));
  const auto count = whole.decoder_ids.size();
  ASSERT_TRUE(model.begin(2, static_cast<int64_t>(count)).ok());
  for (size_t position = 0; position < count; position += 3) {
    SCOPED_TRACE("after decoder id " + std::to_string(position));
    if (!stepwise) {
      ASSERT_TRUE(model.begin(2, static_cast<int64_t>(count)).ok());
    }
    nn::SequenceInput input = whole;
    input.decoder_ids.resize(stepwise ? 1 : position + 1);
    if (position == 0 || !stepwise) {
      const Status read = model.prefill(1, input, logits);
      ASSERT_TRUE(read.ok()) << read.error().to_string();
    } else {
      for (size_t i = position - 2; i <= position; ++i) {
        const int64_t slot = 1;
        ASSERT_TRUE(model.decode({&slot, 1}, {&whole.decoder_ids[i], 1}, logits).ok());
      }
    }
    expect_near(logits.data(), row.at("logits").at(position / 3), "logit");
  }
}

TEST_F(TinySeq2SeqConformance, DecoderLogitsEqualTransformersReadAtOnceAndStepByStep) {
  const json file = seq2seq_file();
  for (const json& test_case : file.at("cases")) {
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    const auto weights = load(test_case);
    ASSERT_TRUE(weights.ok()) << weights.error().to_string();
    const auto model = std::make_unique<nn::StepModel>(make_bart_decoder(*weights));
    const auto copy = make_bart_decoder(*weights)->copy_to(at::kCPU, at::kDouble);
    ASSERT_TRUE(copy.ok());
    const auto double_model = std::make_unique<nn::StepModel>(*copy);
    const auto device_model =
        std::make_unique<nn::DeviceModel>(make_bart_decoder(*weights), nn::cpu_device_services());
    for (const json& row : test_case.at("inputs")) {
      SCOPED_TRACE(std::to_string(row.at("ids").size()) + " tokens");
      expect_logits(*model, row, false);
      expect_logits(*model, row, true);
      expect_logits(*double_model, row, true);
      expect_logits(*device_model, row, false);
      expect_logits(*device_model, row, true);
    }
  }
}

TEST_F(TinySeq2SeqConformance, RowsOfOneSourceGoOnFromOneAnother) {
  const json test_case = case_named("bart");
  const auto weights = load(test_case);
  const auto model = std::make_unique<nn::StepModel>(make_bart_decoder(*weights));
  const auto vocabulary = static_cast<size_t>(model->shape().vocabulary);
  const auto alone = [&](const json& row, std::vector<int32_t> begun) {
    std::vector<float> logits(vocabulary);
    nn::SequenceInput input = input_of(row);
    input.decoder_ids = std::move(begun);
    EXPECT_TRUE(model->begin(1, 8).ok());
    EXPECT_TRUE(model->prefill(0, input, logits).ok());
    return logits;
  };
  const json& first = test_case.at("inputs").at(0);
  const json& second = test_case.at("inputs").at(3);
  const auto expect_first = alone(first, {2, 7, 9});
  const auto expect_second = alone(second, {2, 11});
  // Rows 1 and 2 branch off row 0, which moves to row 3; row 2's own source is given up.
  std::vector<float> logits(vocabulary);
  ASSERT_TRUE(model->begin(4, 8).ok());
  nn::SequenceInput input = input_of(first);
  input.decoder_ids = {2, 7};
  ASSERT_TRUE(model->prefill(0, input, logits).ok());
  input = input_of(second);
  input.decoder_ids = {2};
  ASSERT_TRUE(model->prefill(2, input, logits).ok());
  const std::vector<int64_t> rows = {1, 2, 0, 3};
  const std::vector<int64_t> sources = {0, 0, 2, 0};
  ASSERT_TRUE(model->reassign(rows, sources).ok());
  std::vector<float> batch(4 * vocabulary);
  const std::vector<int32_t> tokens = {9, 13, 11, 9};
  ASSERT_TRUE(model->decode(rows, tokens, batch).ok());
  const auto row = [&](size_t i) {
    const auto begin = batch.begin() + static_cast<std::ptrdiff_t>(i * vocabulary);
    return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(vocabulary));
  };
  // Equal bits: no row's numbers depend on its batch.
  EXPECT_EQ(row(0), expect_first);
  EXPECT_EQ(row(3), expect_first);
  EXPECT_EQ(row(2), expect_second);
  EXPECT_NE(row(1), expect_first);
}

TEST_F(TinySeq2SeqConformance, ABartWithWindowsThatReachEverythingEncodesAsItDid) {
  const auto bart = load(case_named("bart"));
  const nn::SequenceInput input = input_of(case_named("bart").at("inputs").at(3));
  const auto length = static_cast<int64_t>(input.ids.size());
  const at::Tensor whole = *make_bart_decoder(*bart)->encode({.ids = input.ids});
  const auto wide = led_from_bart(**bart, 2 * length, 200);
  EXPECT_TRUE(
      at::allclose(*make_bart_decoder(wide)->encode({.ids = input.ids}), whole, 1e-5, 1e-5));
  // Copied projections: a token that is global everywhere else is still read as before.
  std::vector<int64_t> all(input.ids.size());
  std::iota(all.begin(), all.end(), 0);
  const nn::SequenceInput global = {.ids = input.ids, .global_positions = all};
  EXPECT_TRUE(at::allclose(*make_bart_decoder(wide)->encode(global), whole, 1e-5, 1e-5));
  const auto narrow = led_from_bart(**bart, 4, 200);
  EXPECT_FALSE(
      at::allclose(*make_bart_decoder(narrow)->encode({.ids = input.ids}), whole, 1e-3, 1e-3));
  EXPECT_TRUE(at::allclose(*make_bart_decoder(narrow)->encode(global), whole, 1e-5, 1e-5));
  // 48 positions, then the first of them again; the decoder's are as they were.
  EXPECT_TRUE(at::equal(wide->encoder->positions[48], (*bart)->encoder->positions[2]));
  const nn::SequenceShape shape = make_bart_decoder(wide)->shape().sequence;
  EXPECT_EQ(shape.source_context, 200);
  EXPECT_EQ(shape.context, make_bart_decoder(*bart)->shape().sequence.context);
  std::vector<float> before(static_cast<size_t>(shape.vocabulary));
  std::vector<float> after = before;
  for (const auto& [weights, logits] : {std::pair(*bart, &before), std::pair(wide, &after)}) {
    const auto model = std::make_unique<nn::StepModel>(make_bart_decoder(weights));
    ASSERT_TRUE(model->begin(1, 4).ok());
    ASSERT_TRUE(model->prefill(0, {.ids = input.ids, .decoder_ids = {2, 5, 7}}, *logits).ok());
  }
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i], after[i], 1e-5);
}

/// A folder as AllenAI's code saves it, with one layer in the encoder; `window` is of one side, or
/// a block.
json native_case(const std::string& mode, int64_t window) {
  json test_case = case_named("led as its authors' code saves it");
  test_case["config"]["attention_mode"] = mode;
  test_case["config"]["attention_window"] = {window};
  test_case["config"]["encoder_layers"] = 1;
  json tensors = json::array();
  for (const json& tensor : test_case.at("tensors")) {
    const bool other = tensor.at("name").get<std::string>().find("encoder.layers.1.") == 6;
    if (!other) tensors.push_back(tensor);
  }
  test_case["tensors"] = std::move(tensors);
  return test_case;
}

/// Whether the state at a row changes with the token at a column.
std::vector<std::vector<bool>> influence(const std::shared_ptr<const BartWeights>& weights,
                                         nn::SequenceInput input) {
  const auto decoder = make_bart_decoder(weights);
  const auto states = [&] { return (*decoder->encode(input)).squeeze(0); };
  const size_t length = input.ids.size();
  std::vector<std::vector<bool>> seen(length, std::vector<bool>(length));
  const at::Tensor before = states();
  for (size_t key = 0; key < length; ++key) {
    const int32_t own = std::exchange(input.ids[key], 3 + (input.ids[key] + 9) % 37);
    const at::Tensor after = states();
    for (size_t query = 0; query < length; ++query) {
      const auto row = static_cast<int64_t>(query);
      seen[query][key] = !at::equal(after[row], before[row]);
    }
    input.ids[key] = own;
  }
  return seen;
}

TEST_F(TinySeq2SeqConformance, BlocksOfConvoSummsConfigurationReadThemselvesAndTheirNeighbours) {
  constexpr size_t kBlock = 3;
  constexpr size_t kLength = 14;  // the last block is not whole
  const auto blocks = load(native_case("sliding_chunks_no_overlap", kBlock));
  ASSERT_TRUE(blocks.ok()) << blocks.error().to_string();
  const auto band = load(native_case("sliding_chunks", kBlock));
  ASSERT_TRUE(band.ok()) << band.error().to_string();
  for (const std::vector<int64_t>& global : {std::vector<int64_t>{}, {0}, {4, 13}}) {
    SCOPED_TRACE("global " + ::testing::PrintToString(global));
    nn::SequenceInput input{.ids = std::vector<int32_t>(kLength, 5), .global_positions = global};
    for (size_t i = 0; i < kLength; ++i) input.ids[i] = static_cast<int32_t>(3 + 5 * i % 37);
    const auto by_blocks = influence(*blocks, input);
    const auto by_band = influence(*band, input);
    const auto is_global = [&](size_t i) {
      return std::ranges::count(global, static_cast<int64_t>(i)) > 0;
    };
    for (size_t query = 0; query < kLength; ++query) {
      for (size_t key = 0; key < kLength; ++key) {
        SCOPED_TRACE(std::to_string(query) + " of " + std::to_string(key));
        const bool always = is_global(query) || is_global(key);
        // The whole block of the token, the one before and the one after.
        const size_t begin = query / kBlock * kBlock;
        EXPECT_EQ(by_blocks[query][key],
                  always || (key + kBlock >= begin && key < begin + 2 * kBlock));
        EXPECT_EQ(by_band[query][key], always || (key + kBlock >= query && key <= query + kBlock));
      }
    }
  }
}

TEST_F(TinySeq2SeqConformance, BlocksOf340AreAboutAWindowOf1024) {
  const auto weights = load(native_case("sliding_chunks_no_overlap", 340));
  ASSERT_TRUE(weights.ok()) << weights.error().to_string();
  const std::vector<nn::Window> wanted = {{.reach = 340, .blocks = true}};
  ASSERT_EQ((*weights)->config.windows, wanted);
  for (const int64_t query : {5000, 5099, 5100, 5439}) {
    int64_t before = 0;
    int64_t behind = 0;
    for (int64_t key = 0; key < 12000; ++key) {
      if (!wanted.front().sees(query, key)) continue;
      before += key < query ? 1 : 0;
      behind += key > query ? 1 : 0;
    }
    EXPECT_EQ(before + 1 + behind, 3 * 340) << query;
    EXPECT_EQ(before, 340 + query % 340) << query;
  }
}

TEST_F(TinySeq2SeqConformance, ImpossibleRequestsAreRefused) {
  const auto bart = load(case_named("bart"));
  const auto led = load(case_named("led"));
  const auto refusal = [](const std::shared_ptr<const BartWeights>& weights,
                          const nn::SequenceInput& input) {
    const auto states = make_bart_decoder(weights)->encode(input);
    return states.ok() ? "encoded" : states.error().to_string();
  };
  EXPECT_THAT(refusal(*bart, {.ids = {}}), HasSubstr("0 tokens"));
  EXPECT_THAT(refusal(*bart, {.ids = {40}}), HasSubstr("token id 40"));
  EXPECT_THAT(refusal(*bart, {.ids = std::vector<int32_t>(49, 3)}), HasSubstr("49 tokens"));
  EXPECT_THAT(refusal(*bart, {.ids = {3}, .global_positions = {0}}), HasSubstr("windowed"));
  EXPECT_THAT(refusal(*led, {.ids = {3, 4}, .global_positions = {1, 0}}), HasSubstr("increasing"));
  EXPECT_THAT(refusal(*led, {.ids = {3, 4}, .global_positions = {2}}), HasSubstr("2 tokens"));
  const auto model = std::make_unique<nn::StepModel>(make_bart_decoder(*bart));
  std::vector<float> logits(static_cast<size_t>(model->shape().vocabulary));
  EXPECT_EQ(model->begin(1, 49).error().kind, ErrorKind::invalid_argument);
  ASSERT_TRUE(model->begin(1, 2).ok());
  const int64_t row = 0;
  const int32_t token = 3;
  EXPECT_FALSE(model->decode({&row, 1}, {&token, 1}, logits).ok());
  EXPECT_FALSE(model->prefill(0, {.ids = {3}, .decoder_ids = {2, 3, 4}}, logits).ok());
}

std::string refusal(const json& test_case) {
  const auto weights = load(test_case);
  return weights.ok() ? "loaded" : weights.error().to_string();
}

/// The first token of a decoder whose configuration has `changes` (null: the key is not there), and
/// whose folder has `settings` as generation_config.json unless they are empty.
int32_t first_token(const std::string& name, const json& changes,
                    const std::string& settings = "") {
  json test_case = case_named(name);
  for (const auto& [key, value] : changes.items()) {
    test_case["config"][key] = value;
    if (value.is_null()) test_case["config"].erase(key);
  }
  const qfs::test::TemporaryFolder folder;
  if (!settings.empty()) folder.write("generation_config.json", settings);
  const auto directory =
      checkpoints::ModelDirectory::open(write_tiny_checkpoint(folder, test_case));
  const auto weights = load_bart_weights(*directory);
  return weights.ok() ? (*weights)->config.decoder_start.at(0) : -1;
}

TEST_F(TinySeq2SeqConformance, ADecoderBeginsWithWhatTheSettingsOfGenerationNameElseWithBos) {
  // As generate() of transformers 5.23 on such folders.
  const json bos = {{"bos_token_id", 5}};
  const json bos_alone = {{"bos_token_id", 5}, {"decoder_start_token_id", nullptr}};
  for (const char* name : {"bart", "led", "pegasus", "mbart"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(first_token(name, bos_alone), 5);
    EXPECT_EQ(first_token(name, {{"bos_token_id", 5}, {"decoder_start_token_id", 7}}), 7);
    EXPECT_EQ(first_token(name, bos, R"({"bos_token_id": 6})"), 6);
    EXPECT_EQ(first_token(name, bos, R"({"bos_token_id": 6, "decoder_start_token_id": null})"), 6);
    EXPECT_EQ(first_token(name, bos, R"({"bos_token_id": 6, "decoder_start_token_id": 8})"), 8);
    // generate() refuses settings with neither; the configuration's is what forward() takes.
    EXPECT_EQ(first_token(name, {{"decoder_start_token_id", 7}}, R"({"eos_token_id": 2})"), 7);
  }
}

TEST_F(TinySeq2SeqConformance, WithoutItsFirstTokenADecoderBeginsAsItsConfigurationClassSays) {
  const json neither = {{"bos_token_id", nullptr}, {"decoder_start_token_id", nullptr}};
  EXPECT_EQ(first_token("bart", neither), 2);
  EXPECT_EQ(first_token("led", neither), 2);
  EXPECT_EQ(first_token("pegasus", neither), 0);
  EXPECT_EQ(first_token("mbart", neither), 0);
}

TEST_F(TinySeq2SeqConformance, DamagedConfigurationsAndTensorsAreNamed) {
  json test_case = case_named("led");
  test_case["config"]["attention_window"] = {4, 4, 4};
  EXPECT_THAT(refusal(test_case), HasSubstr("3 windows for 2 layers"));
  test_case["config"]["attention_window"] = 5;
  EXPECT_THAT(refusal(test_case), HasSubstr("positive even number"));
  test_case = case_named("led");
  test_case["config"]["decoder_attention_heads"] = 5;
  EXPECT_THAT(refusal(test_case), HasSubstr("5 decoder heads"));
  test_case = case_named("bart");
  test_case["tensors"].push_back(
      {{"name", "lm_head.weight"}, {"shape", {40, 12}}, {"scale", 0.25}, {"offset", 0}});
  EXPECT_THAT(refusal(test_case), HasSubstr("differs from the embedding"));
  test_case = case_named("bart");
  for (size_t i = 0; i < test_case["tensors"].size(); ++i) {
    json damaged = test_case;
    damaged["tensors"].erase(i);
    const auto name = test_case["tensors"][i]["name"].get<std::string>();
    EXPECT_THAT(refusal(damaged), HasSubstr(name.substr(std::string("model.").size())));
  }
}

}  // namespace
}  // namespace qfs::architectures
