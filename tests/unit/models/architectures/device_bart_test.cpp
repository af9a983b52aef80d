// The decoder of the BART family that serves every device computes what the CPU one does: in
// batches, with sources of their own and shared ones, whatever the caches had to hold before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/step_model.h"
#include "tests/support/kernel_device.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/tiny_seq2seq.h"

namespace qfs::architectures {
namespace {

using ::qfs::test::some_tokens;
using ::qfs::test::TinySeq2Seq;
using ::testing::HasSubstr;

constexpr size_t kVocabulary = TinySeq2Seq::kVocabulary;

class DeviceBartTest : public ::testing::TestWithParam<bool> {
 protected:
  DeviceBartTest() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    device_ = test::kernel_device();
    // Sources of several parts; heads of 8, as 16-bit attention on a GPU wants them.
    const TinySeq2Seq tiny = {.led = GetParam(), .positions = 600, .width = 24};
    const auto directory = checkpoints::ModelDirectory::open(tiny.write(folder_));
    EXPECT_TRUE(directory.ok());
    const auto loaded = load_bart_weights(*directory);
    EXPECT_TRUE(loaded.ok()) << loaded.error().to_string();
    weights_ = *loaded;
  }

  std::unique_ptr<nn::SequenceModel> on_cpu() const {
    return std::make_unique<nn::StepModel>(make_bart_decoder(weights_));
  }

  std::unique_ptr<nn::SequenceModel> on_device(at::ScalarType type) const {
    if (test::on_cuda()) {
      const char* dtype = type == at::kFloat ? "float32" : "bfloat16";
      EXPECT_TRUE(nn::configure_torch({.device = "cuda", .dtype = dtype}).ok());
    }
    const auto copy = make_bart_decoder(weights_)->copy_to(device_.place, type);
    EXPECT_TRUE(copy.ok()) << copy.error().to_string();
    return std::make_unique<nn::DeviceModel>(*copy, device_.services);
  }

  static nn::SequenceInput input(int64_t tokens, int32_t seed, std::vector<int32_t> begun = {}) {
    nn::SequenceInput made = {.ids = some_tokens(tokens, seed), .decoder_ids = std::move(begun)};
    if (GetParam()) made.global_positions = {0};
    if (GetParam() && tokens > 1) made.global_positions.push_back(tokens - 1);
    return made;
  }

  /// Logits of all that is read, in order.
  class Reader {
   public:
    explicit Reader(nn::SequenceModel& model) : model_(model) {}
    void prefill(int64_t row, const nn::SequenceInput& input) {
      std::vector<float> logits(kVocabulary);
      const Status read = model_.prefill(row, input, logits);
      EXPECT_TRUE(read.ok()) << read.error().to_string();
      all.insert(all.end(), logits.begin(), logits.end());
    }
    void decode(const std::vector<int64_t>& rows, const std::vector<int32_t>& tokens) {
      std::vector<float> logits(rows.size() * kVocabulary);
      const Status run = model_.decode(rows, tokens, logits);
      EXPECT_TRUE(run.ok()) << run.error().to_string();
      all.insert(all.end(), logits.begin(), logits.end());
    }
    std::vector<float> all;

   private:
    nn::SequenceModel& model_;
  };

  /// Inputs of one and two parts, steps together, branches of one input beside another one.
  static std::vector<float> read(nn::SequenceModel& model) {
    EXPECT_TRUE(model.begin(4, 40).ok());
    Reader reader(model);
    reader.prefill(0, input(5, 1));
    reader.prefill(3, input(30, 2, {2, 40, 41}));
    reader.prefill(2, input(400, 3));
    reader.decode({3, 0, 2}, {11, 12, 13});
    reader.decode({2, 3}, {60, 61});
    // Row 1 was empty; rows 0 and 1 go on from row 2's source, row 2 from row 0's.
    EXPECT_TRUE(model.reassign(std::vector<int64_t>{0, 1, 2}, std::vector<int64_t>{2, 2, 0}).ok());
    reader.decode({0, 1, 2, 3}, {70, 71, 72, 73});
    reader.decode({1, 3}, {80, 81});
    return reader.all;
  }

  static void expect_near(const std::vector<float>& actual, const std::vector<float>& expected,
                          float tolerance) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_NEAR(actual[i], expected[i], tolerance)
          << "logit " << i % kVocabulary << " of row " << i / kVocabulary << " read";
    }
  }

  test::TemporaryFolder folder_;
  test::KernelDevice device_;
  std::shared_ptr<const BartWeights> weights_;
};

TEST_P(DeviceBartTest, float32_logits_equal_those_of_the_cpu_model) {
  expect_near(read(*on_device(at::kFloat)),
              read(*on_cpu()), 5e-5f);
}

TEST_P(DeviceBartTest, sixteen_bit_logits_are_near) {
  const auto expected = read(*on_cpu());
  expect_near(read(*on_device(at::kBFloat16)), expected, 1.0f);
  expect_near(read(*on_device(at::kHalf)), expected, 0.12f);
}

TEST_P(DeviceBartTest, used_caches_are_empty_after_begin) {
  const auto model = on_device(at::kFloat);
  const auto first = read(*model);
  EXPECT_EQ(read(*model), first);
}

TEST_P(DeviceBartTest, sources_that_rows_hold_survive_longer_ones) {
  const auto model = on_device(at::kFloat);
  const auto expected = on_cpu();
  std::vector<std::vector<float>> all;
  for (nn::SequenceModel* each : {model.get(), expected.get()}) {
    ASSERT_TRUE(each->begin(5, 12).ok());
    Reader reader(*each);
    int64_t row = 0;
    for (const int64_t tokens : {3, 256, 257, 600, 1}) {
      reader.prefill(row++, input(tokens, static_cast<int32_t>(tokens)));
    }
    reader.decode({4, 3, 2, 1, 0}, {5, 6, 7, 8, 9});
    all.push_back(reader.all);
  }
  expect_near(all[0], all[1], 5e-5f);
}

/// Whose decoder has more positions than the tiny LED's.
class DeviceLongBartTest : public DeviceBartTest {};

TEST_P(DeviceLongBartTest, a_long_output_is_read_in_parts) {
  const auto model = on_device(at::kFloat);
  const auto expected = on_cpu();
  std::vector<std::vector<float>> all;
  for (nn::SequenceModel* each : {model.get(), expected.get()}) {
    ASSERT_TRUE(each->begin(2, 300).ok());
    Reader reader(*each);
    reader.prefill(0, input(9, 1, some_tokens(258, 4)));
    reader.prefill(1, input(9, 2));
    reader.decode({1, 0}, {5, 6});
    all.push_back(reader.all);
  }
  expect_near(all[0], all[1], 5e-5f);
}

TEST_P(DeviceBartTest, impossible_requests_are_refused) {
  const auto model = on_device(at::kFloat);
  std::vector<float> logits(kVocabulary);
  const auto refusal = [&](int64_t row, const nn::SequenceInput& input) {
    const Status read = model->prefill(row, input, logits);
    return read.ok() ? "read" : read.error().message;
  };
  const auto step_refusal = [&](int64_t row, int32_t token) {
    const Status run = model->decode({&row, 1}, {&token, 1}, logits);
    return run.ok() ? "run" : run.error().message;
  };
  EXPECT_THAT(refusal(0, input(3, 1)), HasSubstr("row 0 is outside"));
  EXPECT_EQ(model->begin(1, 601).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(model->begin(0, 8).error().kind, ErrorKind::invalid_argument);
  ASSERT_TRUE(model->begin(2, 3).ok());
  EXPECT_THAT(refusal(0, input(601, 1)), HasSubstr("601 tokens"));
  EXPECT_THAT(refusal(0, {.ids = {259}}), HasSubstr("token id 259"));
  EXPECT_THAT(refusal(0, {.ids = {3}, .decoder_ids = {1, 2, 3, 4}}), HasSubstr("4 decoder ids"));
  EXPECT_THAT(refusal(0, {.ids = {3}, .decoder_ids = {-1}}), HasSubstr("token id -1"));
  EXPECT_THAT(refusal(0, {.ids = {3, 4}, .shared = nn::SharedPrefix{1, 1}}),
              HasSubstr("no prefixes"));
  EXPECT_THAT(step_refusal(0, 5), HasSubstr("holds 0 of 3"));
  EXPECT_EQ(refusal(0, input(3, 1)), "read");  // what was refused has left nothing
  EXPECT_THAT(refusal(0, input(3, 1)), HasSubstr("in use"));
  EXPECT_THAT(step_refusal(2, 5), HasSubstr("row 2 is outside"));
  EXPECT_THAT(step_refusal(0, 259), HasSubstr("token id 259"));
  EXPECT_FALSE(model->reassign(std::vector<int64_t>{0}, std::vector<int64_t>{1}).ok());
  EXPECT_EQ(step_refusal(0, 5), "run");
  EXPECT_EQ(step_refusal(0, 5), "run");
  EXPECT_THAT(step_refusal(0, 5), HasSubstr("holds 3 of 3"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeviceLongBartTest, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Kinds, DeviceBartTest, ::testing::Values(false, true),
                         [](const auto& kind) { return kind.param ? "LED" : "BART"; });

}  // namespace
}  // namespace qfs::architectures
