// The forward pass that serves every device computes what the fast CPU one does: float32 to its
// rounding, 16-bit types to theirs, in batches and step by step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "methods/models/architectures/llama/cpu_llama.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/kernel_device.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace qfs::architectures {
namespace {

using ::qfs::test::some_tokens;
using ::qfs::test::TinyLlama;
using ::testing::HasSubstr;

class DeviceLlamaTest : public ::testing::Test {
 protected:
  DeviceLlamaTest() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    device_ = test::kernel_device();
  }

  std::shared_ptr<const LlamaWeights> weights(const TinyLlama& tiny) {
    const auto file = checkpoints::GgufFile::open(folder_.write("m.gguf", tiny.bytes()));
    EXPECT_TRUE(file.ok());
    auto loaded = load_llama_weights(*file);
    EXPECT_TRUE(loaded.ok());
    return *loaded;
  }
  std::unique_ptr<nn::SequenceModel> on_device(const std::shared_ptr<const LlamaWeights>& weights,
                                               at::ScalarType type) {
    auto copy = copy_to_device(*weights, device_.place, type);
    EXPECT_TRUE(copy.ok()) << copy.error().to_string();
    return std::make_unique<nn::DeviceModel>(make_llama_decoder(*copy), device_.services);
  }
  /// Logits of three prompts and of two steps of decoding them together, in the order read.
  static std::vector<float> read(nn::SequenceModel& model) {
    const std::vector<int64_t> lengths = {5, 300, 1};
    std::vector<float> all;
    std::vector<float> logits(TinyLlama::kVocabulary);
    EXPECT_TRUE(model.begin(3, 310).ok());
    for (size_t r = 0; r < lengths.size(); ++r) {
      const auto tokens = some_tokens(lengths[r], static_cast<int32_t>(r));
      EXPECT_TRUE(model.prefill(static_cast<int64_t>(r), {.ids = tokens}, logits).ok());
      all.insert(all.end(), logits.begin(), logits.end());
    }
    const std::vector<int64_t> rows = {2, 0, 1};
    std::vector<float> batch(3 * TinyLlama::kVocabulary);
    for (const int32_t step : {11, 60}) {
      const std::vector<int32_t> tokens = {step, step + 1, step + 2};
      EXPECT_TRUE(model.decode(rows, tokens, batch).ok());
      all.insert(all.end(), batch.begin(), batch.end());
    }
    return all;
  }
  static void expect_near(const std::vector<float>& actual, const std::vector<float>& expected,
                          float tolerance) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_NEAR(actual[i], expected[i], tolerance) << "logit " << i;
    }
  }
  test::TemporaryFolder folder_;
  test::KernelDevice device_;
};

TEST_F(DeviceLlamaTest, float32_logits_equal_those_of_the_fast_forward_pass) {
  for (const bool tied : {true, false}) {
    TinyLlama tiny;
    tiny.tied = tied;
    const auto loaded = weights(tiny);
    if (test::on_cuda()) {
      ASSERT_TRUE(nn::configure_torch({.device = "cuda", .dtype = "float32"}).ok());
    }
    expect_near(read(*on_device(loaded, at::kFloat)), read(*make_cpu_model(loaded)), 5e-5f);
  }
}

TEST_F(DeviceLlamaTest, sixteen_bit_logits_are_near) {
  const auto loaded = weights({});
  const auto expected = read(*make_cpu_model(loaded));
  expect_near(read(*on_device(loaded, at::kBFloat16)), expected, 0.15f);
  expect_near(read(*on_device(loaded, at::kHalf)), expected, 0.02f);
}

TEST_F(DeviceLlamaTest, a_used_cache_is_empty_after_begin) {
  const auto model = on_device(weights({}), at::kFloat);
  const auto first = read(*model);
  EXPECT_EQ(read(*model), first);
}

TEST_F(DeviceLlamaTest, impossible_requests_are_refused) {
  const auto model = on_device(weights({}), at::kFloat);
  std::vector<float> logits(TinyLlama::kVocabulary);
  EXPECT_EQ(model->begin(1, 1025).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(model->begin(0, 8).error().kind, ErrorKind::invalid_argument);
  ASSERT_TRUE(model->begin(1, 4).ok());
  const auto prefill = [&](const std::vector<int32_t>& tokens) {
    return model->prefill(0, {.ids = tokens}, logits);
  };
  EXPECT_EQ(prefill({}).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(prefill({1, 2, 3, 4, 5}).error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(prefill({1, 258}).error().message, HasSubstr("token id 258"));
  const int64_t row = 0;
  const int32_t token = 1;
  EXPECT_THAT(model->decode({&row, 1}, {&token, 1}, logits).error().message,
              HasSubstr("holds 0 of 4"));
  ASSERT_TRUE(prefill({1, 2, 3, 4}).ok());
  EXPECT_THAT(model->decode({&row, 1}, {&token, 1}, logits).error().message,
              HasSubstr("holds 4 of 4"));
}

TEST(DeviceRuntimeTest, a_device_that_is_not_there_is_unavailable_with_the_reason) {
  if (test::on_cuda()) GTEST_SKIP() << "this machine has one";
  const Status status = nn::configure_torch({.device = "cuda", .dtype = "bfloat16"});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(status.error().message,
              ::testing::AnyOf(HasSubstr("plug-in"), HasSubstr("NVIDIA driver")));
  EXPECT_FALSE(nn::take_device_use());
}

TEST(DeviceRuntimeTest, a_device_without_memory_is_typed_and_keeps_the_bytes) {
  const auto typed = [](const auto& fail) {
    return nn::guarded("decoding", [&]() -> Status {
      fail();
      return {};
    });
  };
  // As the allocator says it, and as a call of CUDA does that allocates by itself.
  const Status tensors = typed([] {
    C10_THROW_ERROR(OutOfMemoryError,
                    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
                    "139.81 GiB of which 1.00 GiB is free.");
  });
  EXPECT_EQ(tensors.error().kind, ErrorKind::out_of_memory);
  EXPECT_THAT(tensors.error().message, HasSubstr("Tried to allocate 2.00 GiB. GPU 0"));
  const Status call = typed([] { TORCH_CHECK(false, "CUDA error: out of memory\nhints"); });
  EXPECT_EQ(call.error().kind, ErrorKind::out_of_memory);
  EXPECT_EQ(call.error().message, "decoding: CUDA error: out of memory");
  const Status other = typed([] { TORCH_CHECK(false, "CUDA error: invalid argument"); });
  EXPECT_EQ(other.error().kind, ErrorKind::internal);
}

TEST(DeviceRuntimeTest, unknown_devices_and_types_are_named) {
  EXPECT_THAT(nn::configure_torch({.device = "tpu"}).error().message,
              HasSubstr("valid: cpu, cuda"));
  EXPECT_THAT(nn::configure_torch({.device = "cuda", .dtype = "int8"}).error().message,
              HasSubstr("valid: float32, bfloat16, float16"));
  EXPECT_EQ(nn::configure_torch({.device = "cpu", .dtype = "float16"}).error().kind,
            ErrorKind::unavailable);
}

}  // namespace
}  // namespace qfs::architectures
