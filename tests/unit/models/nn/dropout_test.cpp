// Dropout: how much it drops, that places and examples draw apart, and what it does to an
// encoder-decoder.
#include "methods/models/nn/dropout.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/architectures/gpt2/gpt2.h"
#include "methods/models/nn/network.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/source_reading.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::nn {
namespace {

using ::testing::HasSubstr;

double share_of_zeros(const at::Tensor& x) {
  return (x == 0).to(at::kDouble).mean().item<double>();
}

TEST(Dropout, keeps_the_mean_and_drops_its_share) {
  const Dropout dropout{{.residual = 0.1}, 5};
  const at::Tensor x = at::full({200, 100}, 2.0);
  const at::Tensor dropped = dropout.of_residual(x, 3);
  EXPECT_NEAR(share_of_zeros(dropped), 0.1, 0.01);
  EXPECT_NEAR(dropped.max().item<double>(), 2 / 0.9, 1e-6);
  EXPECT_NEAR(dropped.mean().item<double>(), 2, 0.02);
  EXPECT_TRUE(at::equal(dropped, dropout.of_residual(x, 3)));
  EXPECT_FALSE(at::equal(dropped, dropout.of_residual(x, 4)));
  EXPECT_FALSE(at::equal(dropped, dropout.of_part(0).of_residual(x, 3)));
  for (const auto drop : {&Dropout::of_attention, &Dropout::of_activation}) {
    EXPECT_TRUE(at::equal(x, (dropout.*drop)(x, 3)));
  }
}

TEST(Dropout, each_kind_has_its_own_rate_and_numbers) {
  const Dropout dropout{{.residual = 0.1, .attention = 0.2, .activation = 0.2}, 5};
  const at::Tensor x = at::full({200, 100}, 1.0);
  const at::Tensor weights = dropout.of_attention(x, 3);
  const at::Tensor activations = dropout.of_activation(x, 3);
  EXPECT_NEAR(share_of_zeros(weights), 0.2, 0.01);
  EXPECT_NEAR(share_of_zeros(activations), 0.2, 0.01);
  EXPECT_NEAR(share_of_zeros(weights * activations), 1 - 0.8 * 0.8, 0.01);  // independent
}

TEST(Dropout, falls_on_attentions_weights_where_keys_are_seen) {
  at::manual_seed(3);
  constexpr int64_t kKeys = 64;
  const at::Tensor queries = at::randn({1, 2, kKeys, 8}, at::kDouble);
  const at::Tensor keys = at::randn({1, 2, kKeys, 8}, at::kDouble);
  // What is summed are the weights themselves.
  const at::Tensor values = at::eye(kKeys, at::kDouble).expand({1, 2, kKeys, kKeys});
  const at::Tensor triangle = at::ones({kKeys, kKeys}, at::kBool).tril();
  const at::Tensor plain = attention(queries, keys, values, {.mask = triangle}, nullptr, 0);
  const Dropout dropout{{.attention = 0.25}, 5};
  const at::Tensor masked = attention(queries, keys, values, {.mask = triangle}, &dropout, 4);
  EXPECT_TRUE(at::equal(masked, attention(queries, keys, values, {.causal = true}, &dropout, 4)));
  EXPECT_FALSE(
      at::allclose(masked, attention(queries, keys, values, {.causal = true}, &dropout, 6)));
  const at::Tensor seen = masked.masked_select(triangle);
  EXPECT_NEAR(share_of_zeros(seen), 0.25, 0.02);
  EXPECT_TRUE(at::allclose(masked, at::where(masked == 0, 0.0, plain / 0.75), 1e-6, 1e-12));
  EXPECT_EQ(share_of_zeros(masked.masked_select(triangle.logical_not())), 1);
}

TEST(Dropout, no_two_places_are_one) {
  std::vector<uint64_t> places = {embedding_place(false), embedding_place(true)};
  for (const bool decoder : {false, true}) {
    for (size_t layer = 0; layer < 3; ++layer) {
      for (const LayerBlock block :
           {LayerBlock::attention, LayerBlock::cross_attention, LayerBlock::mlp}) {
        places.push_back(block_place(decoder, layer, block));
      }
    }
  }
  std::ranges::sort(places);
  EXPECT_EQ(std::ranges::adjacent_find(places), places.end());
}

/// Its place in the file of cases.
constexpr size_t kLed = 7;

class DropoutOfModels : public ::testing::Test {
 protected:
  /// `kind`, and where in its file of cases. `rates`: keys of its configuration.
  std::shared_ptr<const Decoder> decoder(const std::string& kind, size_t index = 0,
                                         const nlohmann::json& rates = nlohmann::json::object()) {
    std::ifstream file("tests/conformance/models/architectures/tiny_" + kind + "_expected.json");
    nlohmann::json model = nlohmann::json::parse(file).at("cases").at(index);
    model.at("config").update(rates);
    const auto directory =
        checkpoints::ModelDirectory::open(qfs::test::write_tiny_checkpoint(folder_, model));
    EXPECT_TRUE(directory.ok());
    const auto network = kind == "gpt2" ? architectures::load_gpt2_folder(*directory)
                                        : architectures::load_bart_folder(*directory);
    EXPECT_TRUE(network.ok()) << network.error().to_string();
    ResourceCache cache;
    return *(*network)->decoder({}, "d", cache);
  }
  qfs::test::TemporaryFolder folder_;
};

TEST_F(DropoutOfModels, an_example_drops_the_same_alone_and_in_a_batch) {
  for (const size_t index : {size_t{0}, kLed}) {
    const auto model = decoder("seq2seq", index);
    SequenceInput one{.ids = {0, 3, 9, 12, 7, 2}, .decoder_ids = {2, 0, 11}};
    SequenceInput other{.ids = {0, 5, 21, 2}, .decoder_ids = {2, 0, 8, 6}};
    if (index == kLed) other.global_positions = {0};
    const auto states = [&](std::vector<SequenceInput> inputs) {
      const auto read = sequence_states(*model, inputs);
      EXPECT_TRUE(read.ok()) << read.error().to_string();
      return *read;
    };
    const at::Tensor plain = states({one, other});
    for (const DropoutRates rates :
         {DropoutRates{.residual = 0.2}, {.attention = 0.4}, {.activation = 0.4}}) {
      SCOPED_TRACE(std::to_string(index) + ", " + std::to_string(rates.residual) + ", " +
                   std::to_string(rates.attention));
      other.dropout = std::make_shared<Dropout>(rates, 1);
      const at::Tensor mixed = states({one, other});
      EXPECT_TRUE(at::allclose(mixed.narrow(0, 0, 3), plain.narrow(0, 0, 3), 1e-5, 1e-6));
      EXPECT_FALSE(at::allclose(mixed.narrow(0, 3, 4), plain.narrow(0, 3, 4), 1e-3, 1e-3));
      EXPECT_TRUE(at::allclose(mixed.narrow(0, 3, 4), states({other}), 1e-5, 1e-6));
      other.dropout = std::make_shared<Dropout>(rates, 2);
      EXPECT_FALSE(at::allclose(mixed.narrow(0, 3, 4), states({other}), 1e-3, 1e-3));
    }
  }
}

/// Reads sources without dropout.
class PlainSource final : public SourceReading {
 public:
  Result<at::Tensor> encode(const Decoder& decoder, const SequenceInput& input,
                            Recompute) const override {
    SequenceInput plain = input;
    plain.dropout = nullptr;
    return decoder.encode(plain);
  }
  at::Tensor attend(const SourceQuery& query) const override {
    SourceQuery plain = query;
    plain.dropout = nullptr;
    return attend_to_all(plain);
  }
};

TEST_F(DropoutOfModels, encoder_and_decoder_drop_and_what_is_between_them) {
  const auto model = decoder("seq2seq");
  const SequenceInput input{.ids = {0, 3, 9, 12, 7, 2}, .decoder_ids = {2, 0, 11, 8}};
  const at::Tensor plain = *model->encode(input);
  const SourceReadings without = {std::make_shared<PlainSource>()};
  const auto states = [&](const SequenceInput& read) {
    return *sequence_states(*model, {&read, 1}, Recompute::nothing, {}, without);
  };
  SequenceInput dropping = input;
  for (const DropoutRates rates :
       {DropoutRates{.residual = 0.2}, {.activation = 0.4}, {.attention = 0.4}}) {
    SCOPED_TRACE(rates.activation);
    dropping.dropout = std::make_shared<Dropout>(rates, 1);
    EXPECT_FALSE(at::allclose(*model->encode(dropping), plain, 1e-3, 1e-3));
    EXPECT_FALSE(at::allclose(states(dropping), states(input), 1e-3, 1e-3));
  }
  at::manual_seed(3);
  SourceQuery query{*model, 0, plain, at::randn({4, model->shape().query_width()})};
  const at::Tensor whole = attend_to_all(query);
  query.dropout = dropping.dropout.get();
  EXPECT_FALSE(at::allclose(attend_to_all(query), whole, 1e-3, 1e-3));
}

TEST_F(DropoutOfModels, windows_and_global_tokens_drop) {
  const auto model = decoder("seq2seq", kLed);
  for (const std::vector<int64_t>& global :
       {std::vector<int64_t>{}, std::vector<int64_t>{0, 1, 2, 3, 4, 5}}) {
    SequenceInput input{.ids = {0, 3, 9, 12, 7, 2}, .global_positions = global};
    const at::Tensor plain = *model->encode(input);
    input.dropout = std::make_shared<Dropout>(DropoutRates{.attention = 0.4}, 1);
    EXPECT_FALSE(at::allclose(*model->encode(input), plain, 1e-3, 1e-3)) << global.size();
  }
}

TEST_F(DropoutOfModels, rates_are_those_of_its_configuration) {
  EXPECT_EQ(decoder("seq2seq")->shape().dropout, (DropoutRates{.residual = 0.1}));
  const nlohmann::json given = {
      {"dropout", 0.3}, {"attention_dropout", 0.2}, {"activation_dropout", 0.15}};
  EXPECT_EQ(decoder("seq2seq", 0, given)->shape().dropout, (DropoutRates{0.3, 0.2, 0.15}));
}

TEST_F(DropoutOfModels, a_decoder_only_model_has_none) {
  const SequenceInput input{.ids = {1, 2},
                            .dropout = std::make_shared<Dropout>(DropoutRates{.residual = 0.2}, 1)};
  const auto read = sequence_states(*decoder("gpt2"), {&input, 1});
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("has no dropout"));
}

}  // namespace
}  // namespace qfs::nn
