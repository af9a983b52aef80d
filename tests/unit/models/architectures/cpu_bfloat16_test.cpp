// bfloat16 on a CPU: weights are rounded once and stored in two bytes, and prompts may be read with
// the processor's own products.
#include <c10/util/BFloat16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "methods/models/architectures/llama/cpu_llama.h"
#include "methods/models/architectures/llama/llama_bfloat16.h"
#include "methods/models/architectures/llama/llama_network.h"
#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "tests/support/environment_variable.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace qfs::architectures {
namespace {

using ::qfs::test::some_tokens;
using ::qfs::test::TinyLlama;

class CpuBFloat16Test : public ::testing::Test {
 protected:
  CpuBFloat16Test() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    const auto file = checkpoints::GgufFile::open(folder_.write("m.gguf", TinyLlama{}.bytes()));
    weights_ = *load_llama_weights(*file);
    rounded_ = *rounded_to_bfloat16(weights_);
  }

  /// Logits after a prompt of 300 tokens and after one more.
  static std::vector<float> read(nn::SequenceModel& model) {
    std::vector<float> logits(TinyLlama::kVocabulary);
    EXPECT_TRUE(model.begin(1, 310).ok());
    EXPECT_TRUE(model.prefill(0, {.ids = some_tokens(300, 5)}, logits).ok());
    std::vector<float> all = logits;
    const int64_t row = 0;
    const int32_t token = 9;
    EXPECT_TRUE(model.decode({&row, 1}, {&token, 1}, logits).ok());
    all.insert(all.end(), logits.begin(), logits.end());
    return all;
  }
  static float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    EXPECT_EQ(a.size(), b.size());
    float largest = 0;
    for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const LlamaWeights> weights_;
  std::shared_ptr<const LlamaWeights> rounded_;
};

TEST_F(CpuBFloat16Test, every_value_is_the_nearest_and_takes_two_bytes) {
  const nn::Matrix& before = weights_->layers[1].down;
  const nn::Matrix& after = rounded_->layers[1].down;
  ASSERT_EQ(before.type, checkpoints::TensorType::f32);
  ASSERT_EQ(after.type, checkpoints::TensorType::bf16);
  ASSERT_EQ(2 * after.row_bytes, before.row_bytes);
  const auto* floats = reinterpret_cast<const float*>(before.row(3));
  const auto* halves = reinterpret_cast<const c10::BFloat16*>(after.row(3));
  for (int64_t i = 0; i < before.columns; ++i) {
    EXPECT_LE(std::abs(floats[i] - static_cast<float>(halves[i])), std::abs(floats[i]) / 256);
    EXPECT_EQ(halves[i].x, c10::BFloat16(floats[i]).x);
  }
  std::vector<float> norm = weights_->layers[1].mlp_norm;
  EXPECT_NE(rounded_->layers[1].mlp_norm, norm);
  for (float& value : norm) value = c10::BFloat16(value);
  EXPECT_EQ(rounded_->layers[1].mlp_norm, norm);
  EXPECT_EQ(rounded_->head.data, rounded_->embedding.data);  // still tied
  EXPECT_EQ((*rounded_to_bfloat16(rounded_))->layers[0].qkv.data, rounded_->layers[0].qkv.data);
}

TEST_F(CpuBFloat16Test, logits_are_near_those_of_float32_with_either_kind_of_products) {
  const auto exact = read(*make_cpu_model(weights_));
  const auto expanded = read(*make_cpu_model(rounded_, false));
  const auto multiplied = read(*make_cpu_model(rounded_, true));
  EXPECT_GT(largest_difference(exact, expanded), 0.0f);
  EXPECT_LT(largest_difference(exact, expanded), 0.15f);
  EXPECT_GT(largest_difference(expanded, multiplied), 0.0f);
  EXPECT_LT(largest_difference(expanded, multiplied), 0.15f);
}

TEST_F(CpuBFloat16Test, sequences_are_computed_in_float32_where_there_are_no_such_products) {
  const auto network = make_llama_network(weights_);
  RuntimeOptions runtime;
  runtime.dtype = "bfloat16";
  const auto states = [&](const nn::Decoder& decoder) {
    const nn::SequenceInput input{.ids = some_tokens(60, 5)};
    const auto found = nn::sequence_states(decoder, {&input, 1});
    EXPECT_TRUE(found.ok());
    return *found;
  };
  ResourceCache cache;
  const auto exact = *network->decoder({}, "x", cache);
  EXPECT_EQ((*network->decoder(runtime, "x", cache))->type(),
            kernels::has_bfloat16_products() ? at::kBFloat16 : at::kFloat);
  const test::EnvironmentVariable held_back("QFS_CPU_KERNELS", "avx2");
  const auto widened = *network->decoder(runtime, "x", cache);
  ASSERT_EQ(widened->type(), at::kFloat);
  EXPECT_TRUE(widened->head().weight.equal(exact->head().weight.to(at::kBFloat16).to(at::kFloat)));
  const auto difference = (states(*widened) - states(*exact)).abs().max().item<float>();
  EXPECT_GT(difference, 0);
  EXPECT_LT(difference, 0.15F);
  EXPECT_NE(nn::probe_torch({})->numerics.text.find(R"("bfloat16_products":false)"),
            std::string::npos);
}

}  // namespace
}  // namespace qfs::architectures
