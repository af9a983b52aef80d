// A prompt that takes its beginning from another row's cache is continued as if it had been read
// whole, on every device; what cannot be shared is refused and leaves the row empty.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/architectures/llama/cpu_llama.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/kernel_device.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace qfs::architectures {
namespace {

using ::qfs::test::some_tokens;
using ::qfs::test::TinyLlama;
using ::testing::HasSubstr;

class SharedPrefixTest : public ::testing::Test {
 protected:
  SharedPrefixTest() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    const auto file = checkpoints::GgufFile::open(folder_.write("m.gguf", TinyLlama{}.bytes()));
    weights_ = *load_llama_weights(*file);
    const test::KernelDevice device = test::kernel_device();
    models_.push_back(make_cpu_model(weights_));
    models_.push_back(std::make_unique<nn::DeviceModel>(
        make_llama_decoder(*copy_to_device(*weights_, device.place, at::kFloat)), device.services));
  }

  /// Logits after a prompt and after one more token.
  static std::vector<float> read(nn::SequenceModel& model, int64_t row,
                                 const nn::SequenceInput& input) {
    std::vector<float> logits(TinyLlama::kVocabulary);
    const Status status = model.prefill(row, input, logits);
    EXPECT_TRUE(status.ok()) << status.error().to_string();
    std::vector<float> all = logits;
    const int32_t token = 42;
    EXPECT_TRUE(model.decode({&row, 1}, {&token, 1}, logits).ok());
    all.insert(all.end(), logits.begin(), logits.end());
    return all;
  }
  static std::string refusal(nn::SequenceModel& model, int64_t row,
                             const nn::SequenceInput& input) {
    std::vector<float> logits(TinyLlama::kVocabulary);
    const Status status = model.prefill(row, input, logits);
    return status.ok() ? "read" : status.error().message;
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const LlamaWeights> weights_;
  std::vector<std::unique_ptr<nn::SequenceModel>> models_;
};

TEST_F(SharedPrefixTest, the_rest_is_read_as_in_the_whole_prompt) {
  const auto whole = some_tokens(600, 3);
  auto other = whole;
  for (size_t i = 520; i < other.size(); ++i) other[i] = (other[i] + 7) % 256;
  for (const auto& model : models_) {
    ASSERT_TRUE(model->begin(1, 610).ok());
    const auto expected = read(*model, 0, {.ids = whole});
    for (const int64_t positions : {1, 255, 256, 520}) {
      SCOPED_TRACE(positions);
      ASSERT_TRUE(model->begin(3, 610).ok());
      read(*model, 1, {.ids = other});
      const auto shared = read(*model, 2, {.ids = whole, .shared = nn::SharedPrefix{1, positions}});
      ASSERT_EQ(shared.size(), expected.size());
      for (size_t i = 0; i < shared.size(); ++i) ASSERT_NEAR(shared[i], expected[i], 5e-5);
    }
  }
}

TEST_F(SharedPrefixTest, what_is_not_held_is_refused_and_the_row_stays_empty) {
  const auto prompt = some_tokens(8, 1);
  for (const auto& model : models_) {
    ASSERT_TRUE(model->begin(2, 16).ok());
    read(*model, 0, {.ids = prompt});
    for (const nn::SharedPrefix shared :
         {nn::SharedPrefix{0, 8}, nn::SharedPrefix{0, 0}, nn::SharedPrefix{0, 10},
          nn::SharedPrefix{1, 2}, nn::SharedPrefix{2, 2}}) {
      EXPECT_THAT(refusal(*model, 1, {.ids = prompt, .shared = shared}),
                  HasSubstr("a prompt of 8 tokens shares"));
    }
    auto unknown = prompt;
    unknown.back() = 258;
    EXPECT_THAT(refusal(*model, 1, {.ids = unknown, .shared = nn::SharedPrefix{0, 7}}),
                HasSubstr("token id 258"));
    EXPECT_EQ(refusal(*model, 1, {.ids = prompt, .shared = nn::SharedPrefix{0, 7}}), "read");
  }
}

TEST_F(SharedPrefixTest, without_one_every_model_refuses_prompts_in_the_same_words) {
  for (const auto& model : models_) {
    ASSERT_TRUE(model->begin(2, 4).ok());
    const auto words = [&](std::vector<int32_t> ids) {
      return refusal(*model, 0, {.ids = std::move(ids)});
    };
    EXPECT_EQ(words({}), "a prompt of 0 tokens for a row of 4 that holds 0");
    EXPECT_EQ(words({1, 2, 3, 4, 5}), "a prompt of 5 tokens for a row of 4 that holds 0");
    EXPECT_EQ(words({1, 258}), "token id 258 is outside 0..257");
    EXPECT_EQ(words({1, 2}), "read");
    EXPECT_EQ(words({1, 2}), "a prompt of 2 tokens for a row of 4 that holds 2");
    EXPECT_EQ(refusal(*model, 2, {.ids = {1}}), "row 2 is outside the cache");
  }
}

}  // namespace
}  // namespace qfs::architectures
