// A decoder over the bytes of packed weights reads to the bits of the one over expanded ones.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "methods/models/architectures/llama/llama_bfloat16.h"
#include "methods/models/architectures/llama/llama_network.h"
#include "methods/models/architectures/llama/llama_weights.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/infini_memory.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/steps/segment_model.h"
#include "methods/models/nn/token_loss.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace qfs::architectures {
namespace {

using ::qfs::test::some_tokens;
using ::qfs::test::TinyLlama;

using checkpoints::TensorType;

/// Matrices of the same shapes in Q8_0, of values as good as random.
std::shared_ptr<const LlamaWeights> in_blocks(const LlamaWeights& weights) {
  std::mt19937 random(7);
  const auto blocks = [&](nn::Matrix& matrix) {
    constexpr int64_t kElements = 32;
    constexpr int64_t kBytes = 34;
    constexpr uint16_t kScale = 0x1c00;  // 1/256 in half precision
    matrix.type = TensorType::q8_0;
    matrix.row_bytes = matrix.columns / kElements * kBytes;
    const int64_t bytes = matrix.rows * matrix.row_bytes;
    matrix.data = std::make_shared<std::byte[]>(static_cast<size_t>(bytes));
    for (int64_t i = 0; i < bytes; ++i) matrix.data[i] = static_cast<std::byte>(random());
    for (int64_t i = 0; i < bytes; i += kBytes) std::memcpy(&matrix.data[i], &kScale, 2);
  };
  auto made = std::make_shared<LlamaWeights>(weights);
  blocks(made->embedding);
  for (LlamaLayer& layer : made->layers) {
    for (nn::Matrix* matrix : {&layer.qkv, &layer.attention_output, &layer.gate_up, &layer.down}) {
      blocks(*matrix);
    }
  }
  made->head = made->embedding;
  return made;
}

class PackedReaderTest : public ::testing::TestWithParam<TensorType> {
 protected:
  PackedReaderTest() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    const auto file = checkpoints::GgufFile::open(folder_.write("m.gguf", TinyLlama{}.bytes()));
    weights_ = *load_llama_weights(*file);
    if (GetParam() == TensorType::bf16) weights_ = *rounded_to_bfloat16(weights_);
    if (GetParam() == TensorType::q8_0) weights_ = in_blocks(*weights_);
    network_ = make_llama_network(weights_);
    expanded_ = *network_->decoder({}, "x", cache_);
    packed_ = *network_->reader({}, "x", cache_);
  }

  static nn::SequenceInput tokens(int64_t count) {
    return {.ids = some_tokens(count, 5), .query = {1, 3}};
  }
  static at::Tensor states(const nn::Decoder& decoder, const nn::SequenceInput& input) {
    const auto found = nn::sequence_states(decoder, {&input, 1});
    EXPECT_TRUE(found.ok()) << found.error().to_string();
    return *found;
  }
  static std::shared_ptr<const nn::Adapters> low_rank(const nn::Decoder& decoder) {
    at::manual_seed(3);
    nn::LowRankByName layers;
    for (const nn::AdapterTarget& target : nn::adapter_targets(decoder)) {
      for (const nn::FusedPart& layer : target.layers) {
        layers[layer.name] = {at::randn({2, target.inputs}), at::randn({layer.outputs, 2}), 0.5};
      }
    }
    return *nn::bind_adapters({.linears = layers}, decoder);
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const LlamaWeights> weights_;
  std::shared_ptr<const nn::Network> network_;
  ResourceCache cache_;
  std::shared_ptr<const nn::Decoder> expanded_;
  std::shared_ptr<const nn::Decoder> packed_;
};

TEST_P(PackedReaderTest, holds_no_copy_of_a_matrix) {
  EXPECT_EQ(packed_->head().packed, GetParam());
  EXPECT_EQ(packed_->head().weight.const_data_ptr(), weights_->head.data.get());
  EXPECT_EQ(packed_->type(), at::kFloat);
  EXPECT_EQ(packed_->hidden(), expanded_->hidden());
  const at::Tensor head = nn::expanded(packed_->head(), packed_->hidden());
  EXPECT_TRUE(head.equal(expanded_->head().weight));
  EXPECT_EQ(*network_->reader({}, "x", cache_), packed_) << "adapters are bound to its layers";
  EXPECT_FALSE(packed_->copy_to(at::kCPU, at::kFloat).ok());
  RuntimeOptions rounded;
  rounded.dtype = "bfloat16";
  EXPECT_EQ(*network_->reader(rounded, "x", cache_), *network_->decoder(rounded, "x", cache_));
}

TEST_P(PackedReaderTest, sequences_have_the_same_states_and_losses) {
  for (const int64_t count : {6, 70}) {  // by LibTorch's products and by the packed kernels
    for (const bool adapted : {false, true}) {
      nn::SequenceInput input = tokens(count);
      if (adapted) input.adapters = low_rank(*expanded_);
      const at::Tensor expected = states(*expanded_, input);
      if (adapted) input.adapters = low_rank(*packed_);
      EXPECT_TRUE(states(*packed_, input).equal(expected)) << count << adapted;
      const std::vector<int64_t> labels(static_cast<size_t>(count), 7);
      const auto found = nn::label_log_probabilities(packed_->head(), expected, labels);
      ASSERT_TRUE(found.ok()) << found.error().to_string();
      EXPECT_TRUE(found->equal(*nn::label_log_probabilities(expanded_->head(), expected, labels)));
    }
  }
}

TEST_P(PackedReaderTest, rows_with_a_memory_have_the_same_logits) {
  const auto written = [&](const std::shared_ptr<const nn::Decoder>& decoder) {
    const nn::DecoderShape& shape = decoder->shape();
    std::vector<nn::InfiniScalars> scalars;
    for (int64_t i = 0; i < shape.layers; ++i) {
      scalars.push_back({at::full({shape.heads}, -1.0), at::ones({shape.head_dim}), {}});
    }
    const auto memory = *nn::bind_memory({.segment = 8, .query_focused = true, .kept = 2},
                                         std::move(scalars), *decoder);
    nn::SegmentModel model(decoder, memory);
    nn::SequenceInput input = tokens(30);
    input.adapters = low_rank(*decoder);
    std::vector<float> logits(TinyLlama::kVocabulary);
    EXPECT_TRUE(model.begin(1, 40).ok());
    const Status read = model.prefill(0, input, logits);
    EXPECT_TRUE(read.ok()) << read.error().to_string();
    std::vector<float> all = logits;
    for (const int32_t token : {9, 3, 9}) {
      const int64_t row = 0;
      EXPECT_TRUE(model.decode({&row, 1}, {&token, 1}, logits).ok());
      all.insert(all.end(), logits.begin(), logits.end());
    }
    return all;
  };
  EXPECT_EQ(written(packed_), written(expanded_));
}

TEST_P(PackedReaderTest, gives_no_gradients_through_packed_kernels) {
  nn::SequenceInput input = tokens(70);
  input.adapters = low_rank(*packed_);
  input.embedded = {{0, at::zeros({1, packed_->hidden()}).requires_grad_()}};
  EXPECT_ANY_THROW(states(*packed_, input).sum().backward());
}

INSTANTIATE_TEST_SUITE_P(Storage, PackedReaderTest,
                         ::testing::Values(TensorType::bf16, TensorType::q8_0, TensorType::f32));

}  // namespace
}  // namespace qfs::architectures
