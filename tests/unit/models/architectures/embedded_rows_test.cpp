// Rows in the place of tokens: the embeddings of the tokens themselves change no bit of the logits,
// however a prompt is read; gradients reach them; what does not fit is refused.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/backbone.h"
#include "methods/models/architectures/gpt2/gpt2.h"
#include "methods/models/architectures/llama/cpu_llama.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/infini_memory.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/steps/segment_model.h"
#include "methods/models/nn/steps/step_model.h"
#include "methods/models/registry/registry.h"
#include "tests/support/kernel_device.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_checkpoint.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/tiny_seq2seq.h"

namespace qfs::architectures {
namespace {

using ::qfs::test::some_tokens;
using ::qfs::test::TinyLlama;
using ::testing::HasSubstr;

class EmbeddedRowsTest : public ::testing::Test {
 protected:
  EmbeddedRowsTest() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    const auto file = checkpoints::GgufFile::open(folder_.write("m.gguf", TinyLlama{}.bytes()));
    weights_ = *load_llama_weights(*file);
    decoder_ = decoder_of(at::kFloat);
  }

  std::shared_ptr<const nn::Decoder> decoder_of(at::ScalarType type) const {
    return make_llama_decoder(*copy_to_device(*weights_, at::kCPU, type));
  }
  /// The table's rows of tokens at [first, first + count).
  static nn::EmbeddedRows own_rows(const nn::Decoder& decoder, const std::vector<int32_t>& ids,
                                   int64_t first, int64_t count) {
    const nn::Linear& table = decoder.head();  // tied
    return {first,
            table.weight.index_select(0, at::tensor(ids).narrow(0, first, count).to(at::kLong))};
  }
  /// Tokens 3..7 and 12..13 as rows, with placeholders.
  static nn::SequenceInput as_rows(const nn::Decoder& decoder, std::vector<int32_t> ids) {
    nn::SequenceInput input;
    input.embedded = {own_rows(decoder, ids, 3, 5), own_rows(decoder, ids, 12, 2)};
    for (const nn::EmbeddedRows& some : input.embedded) {
      std::fill(ids.begin() + some.at, ids.begin() + some.end(), 4);
    }
    input.ids = std::move(ids);
    return input;
  }
  static std::vector<float> read(nn::SequenceModel& model, const nn::SequenceInput& input) {
    std::vector<float> logits(static_cast<size_t>(model.shape().vocabulary));
    EXPECT_TRUE(model.begin(1, 40).ok());
    const Status status = model.prefill(0, input, logits);
    EXPECT_TRUE(status.ok()) << status.error().to_string();
    std::vector<float> all = logits;
    const int64_t row = 0;
    const int32_t token = 3;
    EXPECT_TRUE(model.decode({&row, 1}, {&token, 1}, logits).ok());
    all.insert(all.end(), logits.begin(), logits.end());
    return all;
  }
  static void expect_equal(nn::SequenceModel& model, const nn::Decoder& decoder,
                           const std::vector<int32_t>& ids) {
    const nn::SequenceInput rows = as_rows(decoder, ids);
    const auto of_tokens = read(model, {.ids = ids});
    EXPECT_EQ(read(model, rows), of_tokens);
    nn::SequenceInput placeholders = rows;
    placeholders.embedded.clear();
    EXPECT_NE(read(model, placeholders), of_tokens);
  }
  std::string refusal(const nn::SequenceInput& input) const {
    std::string said;
    nn::StepModel steps(decoder_);
    const auto packed = make_cpu_model(weights_);
    for (nn::SequenceModel* model : {static_cast<nn::SequenceModel*>(&steps), packed.get()}) {
      std::vector<float> logits(TinyLlama::kVocabulary);
      EXPECT_TRUE(model->begin(2, 40).ok());
      const Status status = model->prefill(0, input, logits);
      EXPECT_FALSE(status.ok());
      if (!status.ok()) said = status.error().message;
    }
    if (input.shared) return said;
    const auto states = nn::sequence_states(*decoder_, {&input, 1});
    EXPECT_FALSE(states.ok());
    if (!states.ok()) {
      EXPECT_EQ(states.error().message, said);
    }
    return said;
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const LlamaWeights> weights_;
  std::shared_ptr<const nn::Decoder> decoder_;
};

TEST_F(EmbeddedRowsTest, a_tokens_own_row_changes_no_bit_whatever_reads_it) {
  const std::vector<int32_t> ids = some_tokens(20, 3);
  const test::KernelDevice device = test::kernel_device();
  nn::StepModel steps(decoder_);
  expect_equal(steps, *decoder_, ids);
  expect_equal(*make_cpu_model(weights_), *decoder_, ids);
  nn::DeviceModel on_device(
      make_llama_decoder(*copy_to_device(*weights_, device.place, at::kFloat)), device.services);
  expect_equal(on_device, *decoder_, ids);
  // Rows across the borders of segments, too.
  std::vector<nn::InfiniScalars> scalars;
  for (int64_t i = 0; i < decoder_->shape().layers; ++i)
    scalars.push_back({at::zeros({4}), {}, {}});
  const auto memory = nn::bind_memory({.segment = 6}, std::move(scalars), *decoder_);
  ASSERT_TRUE(memory.ok()) << memory.error().to_string();
  nn::SegmentModel segments(decoder_, *memory);
  expect_equal(segments, *decoder_, ids);
}

TEST_F(EmbeddedRowsTest, learned_positions_are_added) {
  std::ifstream file("tests/conformance/models/architectures/tiny_gpt2_expected.json");
  const auto one = nlohmann::json::parse(file).at("cases").at(0);
  const auto directory =
      checkpoints::ModelDirectory::open(test::write_tiny_checkpoint(folder_, one));
  ASSERT_TRUE(directory.ok());
  const auto decoder = load_gpt2_decoder(*directory);
  ASSERT_TRUE(decoder.ok()) << decoder.error().to_string();
  const std::vector<int32_t> ids = {7, 21, 3, 15, 5, 17, 1, 2, 15, 5, 3, 1, 2, 5, 9};
  nn::StepModel steps(*decoder);
  expect_equal(steps, **decoder, ids);
}

TEST_F(EmbeddedRowsTest, whole_sequences_read_them_side_by_side) {
  const std::vector<int32_t> ids = some_tokens(20, 3);
  const std::vector<nn::SequenceInput> tokens = {{.ids = some_tokens(9, 1)}, {.ids = ids}};
  const std::vector<nn::SequenceInput> rows = {tokens[0], as_rows(*decoder_, ids)};
  const auto expected = nn::sequence_states(*decoder_, tokens);
  const auto found = nn::sequence_states(*decoder_, rows);
  ASSERT_TRUE(expected.ok() && found.ok());
  EXPECT_TRUE(at::equal(*found, *expected));
  const auto packed = make_cpu_model(weights_);
  const auto stream = packed->stream_before(1, rows[1]);
  ASSERT_TRUE(stream.ok());
  EXPECT_TRUE(at::equal(*stream, *packed->stream_before(1, tokens[1])));
}

TEST_F(EmbeddedRowsTest, gradients_are_those_of_finite_differences) {
  const auto decoder = decoder_of(at::kDouble);
  const nn::SequenceInput input = as_rows(*decoder, some_tokens(20, 3));
  at::manual_seed(5);
  const at::Tensor probe = at::randn({20, TinyLlama::kVocabulary}, at::kDouble);
  for (const nn::Recompute recompute : {nn::Recompute::nothing, nn::Recompute::layers}) {
    std::vector<at::Tensor> leaves;
    nn::SequenceInput own = input;
    for (nn::EmbeddedRows& some : own.embedded) {
      some.rows = some.rows.detach().clone().requires_grad_();
      leaves.push_back(some.rows);
    }
    const auto loss = [&](nn::Recompute with) {
      const auto states = nn::sequence_states(*decoder, {&own, 1}, with);
      EXPECT_TRUE(states.ok());
      return (nn::apply(decoder->head(), *states) * probe).sum();
    };
    loss(recompute).backward();
    const c10::AutoGradMode without(false);
    for (const at::Tensor& leaf : leaves) {
      ASSERT_TRUE(leaf.grad().defined());
      for (int64_t i = 0; i < leaf.numel(); i += 7) {
        at::Tensor moved = leaf.view({-1})[i];
        const double value = moved.item<double>();
        constexpr double kStep = 1e-5;
        moved.fill_(value + kStep);
        const double above = loss(nn::Recompute::nothing).item<double>();
        moved.fill_(value - kStep);
        const double below = loss(nn::Recompute::nothing).item<double>();
        moved.fill_(value);
        const double slope = (above - below) / (2 * kStep);
        EXPECT_NEAR(leaf.grad().view({-1})[i].item<double>(), slope,
                    1e-6 * std::max(1.0, std::abs(slope)));
      }
    }
  }
}

TEST_F(EmbeddedRowsTest, what_does_not_fit_is_refused) {
  const nn::SequenceInput fits = as_rows(*decoder_, some_tokens(20, 3));
  nn::SequenceInput input = fits;
  input.embedded[0].rows = at::zeros({2, 31});
  EXPECT_THAT(refusal(input), HasSubstr("backbone's width of 32"));
  input.embedded[0].rows = at::Tensor();
  EXPECT_THAT(refusal(input), HasSubstr("no matrix of rows"));
  input = fits;
  input.embedded[1].at = 7;
  EXPECT_THAT(refusal(input), HasSubstr("expected some in 8..19"));
  input.embedded[1].at = 19;
  EXPECT_THAT(refusal(input), HasSubstr("embedded rows 19..20"));
  input.embedded = fits.embedded;
  input.embedded[0].at = -1;
  EXPECT_THAT(refusal(input), HasSubstr("embedded rows -1..3"));
  input = fits;
  input.shared = nn::SharedPrefix{.row = 1, .positions = 2};
  EXPECT_THAT(refusal(input), HasSubstr("shares no prefix"));
}

TEST_F(EmbeddedRowsTest, encoder_decoders_refuse_them) {
  ResourceCache cache;
  const auto resource = registry::resolve_backbone(test::TinySeq2Seq{}.write(folder_));
  ASSERT_TRUE(resource.ok()) << resource.error().to_string();
  const auto backbone = open_backbone(*resource, cache);
  ASSERT_TRUE(backbone.ok()) << backbone.error().to_string();
  const auto model = (*backbone)->network->open({}, "bart", cache);
  ASSERT_TRUE(model.ok());
  ASSERT_TRUE((*model)->begin(1, 8).ok());
  std::vector<float> logits(test::TinySeq2Seq::kVocabulary);
  const nn::SequenceInput input{.ids = {5, 6, 7}, .embedded = {{0, at::zeros({1, 12})}}};
  const Status read = (*model)->prefill(0, input, logits);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("takes no embedded rows"));
  const auto decoder = (*backbone)->network->decoder({}, "bart", cache);
  ASSERT_TRUE(decoder.ok());
  EXPECT_FALSE(nn::sequence_states(**decoder, {&input, 1}).ok());
}

}  // namespace
}  // namespace qfs::architectures
