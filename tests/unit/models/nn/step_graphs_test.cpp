// A step of decoding is recorded once a shape and replayed with the inputs of the moment; records
// end when the memory that they point to moves. On a device that only pretends to record.
#include "methods/models/nn/device/step_graphs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/fake_graphs.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace qfs::nn {
namespace {

using ::qfs::test::FakeGraphs;
using ::qfs::test::some_tokens;
using ::qfs::test::TinyLlama;
using ::testing::HasSubstr;

TEST(RecordedParts, are_powers_of_two_up_to_the_capacity) {
  EXPECT_EQ(recorded_parts(1, 10000), 1);
  EXPECT_EQ(recorded_parts(256, 10000), 1);
  EXPECT_EQ(recorded_parts(257, 10000), 2);
  EXPECT_EQ(recorded_parts(513, 10000), 4);
  EXPECT_EQ(recorded_parts(513, 700), 3);
}

TEST(StepGraphs, a_shape_is_recorded_after_a_few_steps_and_then_replayed) {
  FakeGraphs& fake = FakeGraphs::fresh();
  StepGraphs graphs(&FakeGraphs::table(), 0);
  int done = 0;
  const auto step = [&] { ++done; };
  for (int64_t i = 0; i < StepGraphs::kStepsBefore; ++i) graphs.run({1, 1}, step);
  EXPECT_EQ(fake.recorded, 0);
  for (int i = 0; i < 5; ++i) graphs.run({1, 1}, step);
  EXPECT_EQ(fake.recorded, 1);
  EXPECT_EQ(fake.replayed, 5);
  graphs.run({2, 1}, step);  // another shape starts over
  EXPECT_EQ(fake.recorded, 1);
  EXPECT_EQ(done, StepGraphs::kStepsBefore + 1 + 5 + 1);
}

TEST(StepGraphs, without_a_device_that_records_every_step_runs) {
  StepGraphs graphs(nullptr, 0);
  int done = 0;
  for (int i = 0; i < 9; ++i) graphs.run({1, 1}, [&] { ++done; });
  EXPECT_EQ(done, 9);
}

class RecordedLlamaTest : public ::testing::Test {
 protected:
  RecordedLlamaTest() {
    EXPECT_TRUE(configure_torch({}).ok());
    const auto file = checkpoints::GgufFile::open(folder_.write("m.gguf", TinyLlama{}.bytes()));
    EXPECT_TRUE(file.ok());
    auto loaded = architectures::load_llama_weights(*file);
    EXPECT_TRUE(loaded.ok());
    auto copy = architectures::copy_to_device(**loaded, at::kCPU, at::kFloat);
    EXPECT_TRUE(copy.ok());
    weights_ = *copy;
  }

  std::unique_ptr<SequenceModel> model(bool recording) const {
    DeviceServices services = cpu_device_services();
    if (recording) services.graphs = &FakeGraphs::table();
    return std::make_unique<DeviceModel>(architectures::make_llama_decoder(weights_), services);
  }

  /// Logits of prompts of 250 and 3 tokens and of `steps` steps: together, in turn alone, together.
  static std::vector<float> decode(SequenceModel& model, int64_t capacity, int steps) {
    EXPECT_TRUE(model.begin(2, capacity).ok());
    std::vector<float> all;
    std::vector<float> logits(2 * TinyLlama::kVocabulary);
    const std::span<float> one(logits.data(), TinyLlama::kVocabulary);
    EXPECT_TRUE(model.prefill(0, {.ids = some_tokens(250, 1)}, one).ok());
    EXPECT_TRUE(model.prefill(1, {.ids = some_tokens(3, 2)}, one).ok());
    for (int i = 0; i < steps; ++i) {
      const std::vector<int64_t> rows =
          i % 3 == 1 ? std::vector<int64_t>{i % 2} : std::vector<int64_t>{1, 0};
      std::vector<int32_t> tokens;
      for (size_t r = 0; r < rows.size(); ++r) {
        tokens.push_back(static_cast<int32_t>((i * 31 + static_cast<int>(r) * 7) % 250));
      }
      const std::span<float> computed(logits.data(), rows.size() * TinyLlama::kVocabulary);
      const Status status = model.decode(rows, tokens, computed);
      EXPECT_TRUE(status.ok()) << status.error().to_string();
      all.insert(all.end(), computed.begin(), computed.end());
    }
    return all;
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const architectures::LlamaTensors> weights_;
};

TEST_F(RecordedLlamaTest, replayed_steps_give_the_bits_of_steps_that_run) {
  FakeGraphs& fake = FakeGraphs::fresh();
  const auto recording = model(true);
  EXPECT_EQ(decode(*recording, 300, 24), decode(*model(false), 300, 24));
  // Rows 2 and 1, one and two parts: row 0 passes position 256 on the way.
  EXPECT_EQ(fake.recorded, 4);
  EXPECT_EQ(fake.replayed, 24 - 4 * StepGraphs::kStepsBefore);
}

TEST_F(RecordedLlamaTest, records_outlive_a_session_unless_the_cache_moves) {
  FakeGraphs& fake = FakeGraphs::fresh();
  const auto recording = model(true);
  decode(*recording, 300, 24);
  decode(*recording, 300, 24);
  EXPECT_EQ(fake.recorded, 4);
  EXPECT_EQ(decode(*recording, 310, 24), decode(*model(false), 310, 24));
  EXPECT_EQ(fake.recorded, 8);
  EXPECT_EQ(fake.alive.size(), 4u);
}

TEST_F(RecordedLlamaTest, a_step_that_cannot_be_recorded_is_an_error_with_the_devices_words) {
  FakeGraphs& fake = FakeGraphs::fresh();
  fake.failure = "operation not permitted when stream is capturing";
  const auto recording = model(true);
  ASSERT_TRUE(recording->begin(1, 20).ok());
  std::vector<float> logits(TinyLlama::kVocabulary);
  ASSERT_TRUE(recording->prefill(0, {.ids = some_tokens(3, 1)}, logits).ok());
  const int64_t row = 0;
  const int32_t token = 5;
  for (int64_t i = 0; i < StepGraphs::kStepsBefore; ++i) {
    ASSERT_TRUE(recording->decode({&row, 1}, {&token, 1}, logits).ok());
  }
  const Status refused = recording->decode({&row, 1}, {&token, 1}, logits);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("not permitted when stream is capturing"));
}

}  // namespace
}  // namespace qfs::nn
