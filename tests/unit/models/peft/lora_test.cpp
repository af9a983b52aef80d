// PEFT directories: what is written is read again; what is not computed, or is no adapter, is
// named.
#include "methods/models/peft/lora.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/core/files.h"
#include "methods/models/architectures/gpt2/gpt2.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::peft {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class LoraFilesTest : public ::testing::Test {
 protected:
  LoraFilesTest() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    std::ifstream file("tests/conformance/models/architectures/tiny_gpt2_expected.json");
    const auto directory = checkpoints::ModelDirectory::open(
        qfs::test::write_tiny_checkpoint(folder_, json::parse(file).at("cases").at(0)));
    decoder_ = *architectures::load_gpt2_decoder(*directory);
    tensors_.tensor("base_model.model.h.0.lora_A.weight", {1, 2}, {1, 2});
    tensors_.tensor("base_model.model.h.0.lora_B.weight", {3, 1}, {3, 4, 5});
  }

  std::string refusal(const std::string& config) {
    folder_.write("a/adapter_model.safetensors", tensors_.bytes());
    folder_.write("a/adapter_config.json", config);
    const auto adapter = read_lora(folder_ / "a");
    return adapter.ok() ? "read" : adapter.error().to_string();
  }

  qfs::test::TemporaryFolder folder_;
  std::shared_ptr<const nn::Decoder> decoder_;
  qfs::test::SafetensorsWriter tensors_;
};

TEST_F(LoraFilesTest, targets_are_ends_of_names) {
  const std::vector<std::string> targets = {"attn.c_proj", "transformer.h.1.mlp.c_fc"};
  EXPECT_THAT(*chosen_layers(adaptable_layers(*decoder_), targets),
              ElementsAre("h.0.attn.c_proj", "h.1.attn.c_proj", "h.1.mlp.c_fc"));
  const std::vector<std::string> unknown = {"c_attm"};
  EXPECT_THAT(chosen_layers(adaptable_layers(*decoder_), unknown).error().message,
              HasSubstr("no layer 'c_attm' to adapt (did you mean 'c_attn'?)"));
}

TEST_F(LoraFilesTest, new_adapters_add_nothing_and_follow_the_seed) {
  const LoraConfig config = {.rank = 4, .alpha = 8, .targets = {"c_attn"}};
  const auto adapter = new_lora(adaptable_layers(*decoder_), config, 7);
  ASSERT_TRUE(adapter.ok());
  const nn::LowRank& added = adapter->layers.at("h.1.attn.c_attn");
  EXPECT_EQ(added.scale, 2);
  EXPECT_EQ(added.up.abs().max().item<float>(), 0);
  const double bound = 1 / std::sqrt(32.0);
  EXPECT_LE(added.down.abs().max().item<double>(), bound);
  EXPECT_GT(added.down.abs().max().item<double>(), 0.9 * bound);
  EXPECT_TRUE(at::equal(
      added.down,
      new_lora(adaptable_layers(*decoder_), config, 7)->layers.at("h.1.attn.c_attn").down));
  EXPECT_FALSE(at::equal(
      added.down,
      new_lora(adaptable_layers(*decoder_), config, 8)->layers.at("h.1.attn.c_attn").down));
}

TEST_F(LoraFilesTest, what_is_written_is_read_again) {
  LoraAdapter adapter =
      *new_lora(adaptable_layers(*decoder_),
                {.rank = 4, .alpha = 6, .rank_stable = true, .targets = {"c_fc"}}, 1);
  adapter.metadata["qfs.method"] = "lora";
  const LoraFiles files = lora_files(adapter, *decoder_, at::kFloat);
  EXPECT_EQ(files.tensors, lora_files(adapter, *decoder_, at::kFloat).tensors);
  folder_.write("b/adapter_model.safetensors", files.tensors);
  for (const bool alone : {true, false}) {
    if (!alone) folder_.write("b/adapter_config.json", files.config);
    const auto again = read_lora(folder_ / "b");
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    EXPECT_EQ(again->config.rank, 4);
    EXPECT_DOUBLE_EQ(again->config.scale(), 3);
    EXPECT_THAT(again->config.targets, ElementsAre("c_fc"));
    EXPECT_EQ(again->metadata.at("qfs.method"), "lora");
    ASSERT_EQ(again->layers.size(), 2U);
    const nn::LowRank& added = again->layers.at("transformer.h.0.mlp.c_fc");
    EXPECT_TRUE(at::equal(added.down, adapter.layers.at("h.0.mlp.c_fc").down));
    EXPECT_TRUE(nn::bind_adapters({.linears = again->layers}, *decoder_).ok());
  }
}

TEST_F(LoraFilesTest, a_layer_has_one_adapter) {
  LoraAdapter adapter = *new_lora(adaptable_layers(*decoder_), {.rank = 4, .targets = {"c_fc"}}, 1);
  adapter.layers["transformer.h.0.mlp.c_fc"] = adapter.layers.at("h.0.mlp.c_fc");
  EXPECT_EQ(nn::bind_adapters({.linears = adapter.layers}, *decoder_).error().message,
            "'h.0.mlp.c_fc' and 'transformer.h.0.mlp.c_fc' are one layer");
}

TEST_F(LoraFilesTest, what_is_not_computed_is_named) {
  EXPECT_EQ(refusal(R"({"r": 1, "lora_alpha": 2})"), "read");
  EXPECT_THAT(refusal(R"({"r": 1, "use_dora": true})"), HasSubstr("has 'use_dora'"));
  EXPECT_THAT(refusal(R"({"r": 1, "modules_to_save": ["lm_head"]})"),
              HasSubstr("has 'modules_to_save'"));
  EXPECT_THAT(refusal(R"({"r": 1, "rank_pattern": {"h.0": 4}})"), HasSubstr("has 'rank_pattern'"));
  EXPECT_THAT(refusal(R"({"r": 1, "bias": "all"})"), HasSubstr("'bias' \"all\""));
  EXPECT_THAT(refusal(R"({"r": 1, "peft_type": "LOHA"})"), HasSubstr("adapter type 'LOHA'"));
  EXPECT_THAT(refusal(R"({"r": 0})"), HasSubstr("adapter_config.json#/r"));
  EXPECT_THAT(refusal(R"({"r": 2})"), HasSubstr("'h.0' has the rank 1; 'r' is 2"));
}

TEST_F(LoraFilesTest, files_that_are_no_adapter_are_named) {
  tensors_.tensor("base_model.model.h.1.lora_A.weight", {1, 2}, {1, 2});
  EXPECT_THAT(refusal(R"({"r": 1})"), HasSubstr("'h.1' has only its lora_A"));
  tensors_.tensor("base_model.model.lm_head.weight", {1}, {1});
  EXPECT_THAT(refusal(R"({"r": 1})"),
              HasSubstr("'base_model.model.lm_head.weight' is no low-rank"));
  EXPECT_EQ(read_lora(folder_ / "none").error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace qfs::peft
