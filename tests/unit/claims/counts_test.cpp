// Counts that follow from the sizes of LLaMA-7B, against the papers' own tables.
#include "harness/claims/counts.h"

#include <gtest/gtest.h>

namespace qfs::claims {
namespace {

MethodQuery query(const std::string& method, std::vector<NamedValue> params) {
  return {method, "llama-2-7b", "", std::move(params)};
}

int64_t trainable(const std::string& method, std::vector<NamedValue> params) {
  const Result<int64_t> count = trainable_parameters(query(method, std::move(params)));
  EXPECT_TRUE(count.ok());
  return count.ok() ? *count : -1;
}

// IDEAL, Table 3; the counts to the digit follow from the released code's shapes.
TEST(TrainableParameters, AreThoseOfIdealsTable3) {
  EXPECT_EQ(trainable("prompt_tuning", {}), 1'229'760);
  EXPECT_EQ(trainable("parallel_adapter", {{"bottleneck", int64_t{16}, ""}}), 4'325'888);
  EXPECT_EQ(trainable("lora", {{"rank", int64_t{8}, ""}}), 12'255'232);
  EXPECT_EQ(trainable("lora", {{"rank", int64_t{16}, ""}}), 24'510'464);
  const NamedValue prompt = {"adapter", std::string("prompt"), ""};
  const NamedValue parallel = {"adapter", std::string("parallel_adapter"), ""};
  const NamedValue lora = {"adapter", std::string("lora"), ""};
  EXPECT_EQ(trainable("ideal", {prompt}), 7'214'976);
  EXPECT_EQ(trainable("ideal", {parallel}), 15'149'328);
  EXPECT_EQ(trainable("ideal", {parallel, {"bottleneck", int64_t{32}, ""}}), 25'767'456);
  EXPECT_EQ(trainable("ideal", {parallel, {"bottleneck", int64_t{64}, ""}}), 47'003'712);
  EXPECT_EQ(trainable("ideal", {parallel, {"bottleneck", int64_t{128}, ""}}), 89'476'224);
  EXPECT_EQ(trainable("ideal", {lora}), 24'482'896);
}

TEST(TrainableParameters, HaveNoFormulaForOtherMethods) {
  EXPECT_FALSE(trainable_parameters(query("dyle", {})).ok());
  const NamedValue memory = {"memory", std::string("infini"), ""};
  EXPECT_FALSE(trainable_parameters(query("lora", {memory})).ok());
}

// SelfCP, Table 7, per sequence: a prompt of 512 tokens and 128 new ones.
TEST(GenerationWork, IsThatOfSelfCpsTable7) {
  const GenerationWork plain{.prompt_tokens = 512, .new_tokens = 128};
  EXPECT_NEAR(multiply_adds(plain) * 1e-9, 4309.8, 0.05);
  EXPECT_NEAR(operations(plain, false) * 1e-9, 8619.6, 0.05);
  EXPECT_NEAR(operations(plain, true) * 1e-9, 8620.2, 0.05);
  const GenerationWork compressed{
      .prompt_tokens = 512, .new_tokens = 128, .compressed_tokens = 1024, .connector_rows = 85};
  EXPECT_NEAR(operations(compressed, false) * 1e-9, 22435.1, 0.05);
  EXPECT_NEAR(operations(compressed, true) * 1e-9, 22437.1, 0.05);
}

TEST(GenerationWork, IsThatOfEveryRowOfTheEfficiencyTable) {
  const auto tera = [](const GenerationWork& work) { return operations(work, false) * 1e-9; };
  EXPECT_NEAR(tera({.prompt_tokens = 555, .new_tokens = 128}), 9214.8, 0.05);
  EXPECT_NEAR(tera({.prompt_tokens = 1024, .new_tokens = 128}), 15831.7, 0.05);
  EXPECT_NEAR(tera({.prompt_tokens = 555,
                    .new_tokens = 128,
                    .compressed_tokens = 555,
                    .connector_rows = 43}),
              16566.1, 0.05);
}

TEST(GenerationWork, IsLessWhereOnlyWhatIsNeededIsCounted) {
  const DecoderSizes sizes;
  const auto tera = [&](int64_t prompt) {
    return 2e-9 * generation_multiply_adds(prompt, 128, sizes, WorkCount::lean);
  };
  EXPECT_NEAR(tera(512), 8417, 0.5);
  EXPECT_NEAR(tera(555), 8989, 0.5);
  EXPECT_NEAR(tera(1024), 15289, 0.5);
  const double compressing =
      2e-9 * (body_multiply_adds(555, sizes, WorkCount::lean) + 43.0 * 4096 * 4096);
  EXPECT_NEAR(tera(555) + compressing, 16259, 0.5);
}

TEST(GenerationWork, CountsGroupedHeads) {
  // Width 4 with two heads of 3 and one of keys: 2*4*6 + 2*4*3 + 3*4*5 products a token.
  const DecoderSizes grouped{.layers = 1,
                             .width = 4,
                             .heads = 2,
                             .inner = 5,
                             .vocabulary = 7,
                             .key_heads = 1,
                             .head_width = 3};
  EXPECT_EQ(body_multiply_adds(2, grouped, WorkCount::eager), 2 * 132 + 2 * 6 * 4);
  EXPECT_EQ(body_multiply_adds(2, grouped, WorkCount::lean), 2 * 132 + 6 * 4);
  EXPECT_EQ(step_multiply_adds(3, grouped), 132 + 28 + 2 * 6 * 3);
}

// By hand: one layer, width 2, one head, inner width 3, vocabulary 5. A token takes 4*4 + 3*2*3 =
// 34 products in the layer and 10 in the head; two prompt tokens attend over 2*2*2^2 = 16, the one
// step behind them over 2*2*3 = 12.
TEST(GenerationWork, CountsATinyModelByHand) {
  const DecoderSizes tiny{.layers = 1, .width = 2, .heads = 1, .inner = 3, .vocabulary = 5};
  EXPECT_EQ(multiply_adds({.prompt_tokens = 2, .new_tokens = 2}, tiny),
            2 * 34 + 16 + 2 * 10 + 34 + 10 + 12);
  // SiLU of 3 values a token, softmax of 2*2 and of 3 scores.
  EXPECT_EQ(operations({.prompt_tokens = 2, .new_tokens = 2}, true, tiny),
            2 * (2 * 34 + 16 + 2 * 10 + 34 + 10 + 12) + 3 * 3 + 4 + 3);
}

}  // namespace
}  // namespace qfs::claims
