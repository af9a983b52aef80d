// What trained files say of themselves by what lies beside them; the weights have no tensor.
#include "methods/models/registry/artifacts.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace qfs::registry {
namespace {

class Artifacts : public testing::Test {
 protected:
  Artifacts() {
    const std::string header = "{}      ";  // padded to eight bytes
    folder_.write("adapter.safetensors", std::string("\x08\0\0\0\0\0\0\0", 8) + header);
  }
  Result<ArtifactFacts> facts() const { return resolve_artifact(folder_ / "adapter.safetensors"); }
  std::string refusal(const std::string& params) const {
    folder_.write("adapter_params.json", params);
    const auto found = facts();
    return found.ok() ? "no error" : found.error().to_string();
  }

  test::TemporaryFolder folder_;
};

TEST_F(Artifacts, AReleaseOfIdealSaysHowItWasTrained) {
  const std::string alone = facts()->file.digest;
  EXPECT_TRUE(facts()->recipe.values().empty());
  folder_.write("adapter_params.json",
                R"({"w_bias": false, "lora_rank": 16, "lora_targets": "Q,K, V,O,FFN_UP",
                    "n_lora_layers": "0-16", "n_hyper_lora_layers": "16-32",
                    "serial_generate": false, "common_encoder": true, "hyper_input_type": "all",
                    "max_seq_len": 1600, "segment_size": 768, "flash_attention2": false})");
  auto found = facts();
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  Params expected;
  expected.set("rank", int64_t{16});
  expected.set("targets", std::string("q_proj,k_proj,v_proj,o_proj,up_proj"));
  expected.set("hyper_encoder", std::string("common"));
  expected.set("pooling", std::string("all"));
  EXPECT_EQ(found->recipe.values(), expected.values());
  EXPECT_NE(found->file.digest, alone) << "what it says is part of the artifact";

  folder_.write("generate_params.json", R"({"instruc_end": true})");
  found = facts();
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  EXPECT_TRUE(found->recipe.get<bool>("repeat_query"));
}

TEST_F(Artifacts, SizesOfItsOtherAdaptersAreTheirs) {
  folder_.write("adapter_params.json",
                R"({"padapter_size": 32, "prompt_len": 12, "serial_generate": true})");
  const auto found = facts();
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  EXPECT_EQ(found->recipe.get<int64_t>("bottleneck"), 32);
  EXPECT_EQ(found->recipe.get<int64_t>("length"), 12);
  EXPECT_EQ(found->recipe.get<std::string>("hyper_encoder"), "serial");
}

TEST_F(Artifacts, WhatIsNotComputedOrNotUnderstoodIsRefused) {
  EXPECT_NE(refusal(R"({"w_bias": true})").find("says 'w_bias', but it has no 'llama.norm.weight'"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"lora_targets": "Q,GATE"})").find("'lora_targets' has 'GATE' (known: Q"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"lora_rank": "8"})").find("'lora_rank' is no whole number"),
            std::string::npos);
  EXPECT_NE(refusal("[]").find("adapter_params.json"), std::string::npos);
  EXPECT_NE(refusal("{").find("adapter_params.json"), std::string::npos);
}

}  // namespace
}  // namespace qfs::registry
