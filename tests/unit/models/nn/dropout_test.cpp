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
#include "tests/support/tiny_checkpoint.h"

namespace qfs::nn {
namespace {

using ::testing::HasSubstr;

TEST(Dropout, keeps_the_mean_and_drops_its_share) {
  const Dropout dropout{0.1, 5};
  const at::Tensor x = at::full({200, 100}, 2.0);
  const at::Tensor dropped = dropout.apply(x, 3);
  EXPECT_NEAR((dropped == 0).to(at::kDouble).mean().item<double>(), 0.1, 0.01);
  EXPECT_NEAR(dropped.max().item<double>(), 2 / 0.9, 1e-6);
  EXPECT_NEAR(dropped.mean().item<double>(), 2, 0.02);
  EXPECT_TRUE(at::equal(dropped, dropout.apply(x, 3)));
  EXPECT_FALSE(at::equal(dropped, dropout.apply(x, 4)));
  EXPECT_FALSE(at::equal(dropped, dropout.of_part(0).apply(x, 3)));
  EXPECT_TRUE(at::equal(x, Dropout{0, 5}.apply(x, 3)));
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

class DropoutOfModels : public ::testing::Test {
 protected:
  std::shared_ptr<const Decoder> decoder(const std::string& kind) {
    std::ifstream file("tests/conformance/models/architectures/tiny_" + kind + "_expected.json");
    const auto directory = checkpoints::ModelDirectory::open(
        qfs::test::write_tiny_checkpoint(folder_, nlohmann::json::parse(file).at("cases").at(0)));
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
  const auto bart = decoder("seq2seq");
  SequenceInput one{.ids = {0, 3, 9, 12, 7, 2}, .decoder_ids = {2, 0, 11}};
  SequenceInput other{.ids = {0, 5, 21, 2}, .decoder_ids = {2, 0, 8, 6}};
  const auto states = [&](std::vector<SequenceInput> inputs) {
    const auto read = sequence_states(*bart, inputs);
    EXPECT_TRUE(read.ok()) << read.error().to_string();
    return *read;
  };
  const at::Tensor plain = states({one, other});
  other.dropout = std::make_shared<Dropout>(0.2, 1);
  const at::Tensor mixed = states({one, other});
  EXPECT_TRUE(at::allclose(mixed.narrow(0, 0, 3), plain.narrow(0, 0, 3), 1e-5, 1e-6));
  EXPECT_FALSE(at::allclose(mixed.narrow(0, 3, 4), plain.narrow(0, 3, 4), 1e-2, 1e-2));
  EXPECT_TRUE(at::allclose(mixed.narrow(0, 3, 4), states({other}), 1e-5, 1e-6));
  other.dropout = std::make_shared<Dropout>(0.2, 2);
  EXPECT_FALSE(at::allclose(mixed.narrow(0, 3, 4), states({other}), 1e-2, 1e-2));
}

TEST_F(DropoutOfModels, a_decoder_only_model_has_none) {
  const SequenceInput input{.ids = {1, 2}, .dropout = std::make_shared<Dropout>(0.2, 1)};
  const auto read = sequence_states(*decoder("gpt2"), {&input, 1});
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("has no dropout"));
}

}  // namespace
}  // namespace qfs::nn
