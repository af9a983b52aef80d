// What unlimiformer's index gives a decoder: full cross-attention where the states that a head
// reads are all there are, else that of the best; whatever the rows' branches and adapters.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "methods/models/architectures/bart/bart.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/step_model.h"
#include "methods/unlimiformer/session_index.h"
#include "methods/unlimiformer/session_network.h"
#include "methods/unlimiformer/windows.h"
#include "tests/support/random_bart.h"
#include "tests/support/tiny_llama.h"

namespace qfs::unlimiformer {
namespace {

using ::testing::ElementsAre;

/// The decoder itself, with an encoder that reads sources of any length in windows.
class ReadsWindows final : public nn::Decoder {
 public:
  explicit ReadsWindows(std::shared_ptr<const nn::Decoder> inner) : inner_(std::move(inner)) {}

  const nn::DecoderShape& shape() const override { return inner_->shape(); }
  at::Tensor embed(const at::Tensor& ids, const at::Tensor& positions) const override {
    return inner_->embed(ids, positions);
  }
  at::Tensor layer(size_t index, const at::Tensor& stream,
                   nn::LayerOperations& run) const override {
    return inner_->layer(index, stream, run);
  }
  at::Tensor last_states(const at::Tensor& stream) const override {
    return inner_->last_states(stream);
  }
  const nn::Linear& head() const override { return inner_->head(); }
  std::shared_ptr<const nn::Decoder> visit(nn::WeightVisitor& visitor) const override {
    return inner_->visit(visitor);
  }
  Result<at::Tensor> encode(const nn::SequenceInput& input, nn::Recompute) const override {
    const auto states = windowed_states(*inner_, input, 0.5);
    if (!states.ok()) return states.error();
    return states->unsqueeze(0);
  }
  at::Tensor source_keys_values(size_t layer, const at::Tensor& states,
                                const nn::Adapters* adapters) const override {
    return inner_->source_keys_values(layer, states, adapters);
  }
  Result<std::shared_ptr<const nn::Decoder>> copy_to(at::Device, at::ScalarType) const override {
    return unavailable("not here");
  }

 private:
  std::shared_ptr<const nn::Decoder> inner_;
};

class IndexTest : public ::testing::Test {
 protected:
  IndexTest() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    weights_ = test::random_bart({});
    decoder_ = architectures::make_bart_decoder(weights_);
  }

  nn::StepModel retrieving(int64_t retrieved) const {
    auto sources = retrieving_sources(decoder_, {retrieved, 0.5});
    EXPECT_TRUE(sources.ok()) << sources.error().to_string();
    return nn::StepModel(decoder_, *std::move(sources));
  }

  nn::SequenceInput input(int64_t tokens, int32_t seed) const {
    nn::SequenceInput made;
    for (const int32_t id : test::some_tokens(tokens, seed)) made.ids.push_back(id % 60);
    made.adapters = adapters_;
    return made;
  }

  /// Logits of two sources, steps of both, and a branch.
  std::vector<float> read(nn::StepModel& model, int64_t tokens) const {
    const auto vocabulary = static_cast<size_t>(model.shape().vocabulary);
    std::vector<float> all;
    std::vector<float> logits;
    const auto keep = [&](const Status& status) {
      EXPECT_TRUE(status.ok()) << status.error().to_string();
      all.insert(all.end(), logits.begin(), logits.end());
    };
    EXPECT_TRUE(model.begin(3, 12).ok());
    logits.resize(vocabulary);
    keep(model.prefill(0, input(tokens, 1), logits));
    keep(model.prefill(2, input(tokens + 5, 2), logits));
    logits.resize(2 * vocabulary);
    keep(model.decode(std::vector<int64_t>{2, 0}, std::vector<int32_t>{7, 8}, logits));
    EXPECT_TRUE(model.reassign(std::vector<int64_t>{0, 1}, std::vector<int64_t>{2, 0}).ok());
    logits.resize(3 * vocabulary);
    keep(model.decode(std::vector<int64_t>{0, 1, 2}, std::vector<int32_t>{9, 10, 11}, logits));
    return all;
  }

  static float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    EXPECT_EQ(a.size(), b.size());
    float largest = 0;
    for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
  }

  std::shared_ptr<const architectures::BartWeights> weights_;
  std::shared_ptr<const nn::Decoder> decoder_;
  std::shared_ptr<const nn::Adapters> adapters_;
};

TEST_F(IndexTest, states_are_those_of_each_window_by_itself) {
  const nn::SequenceInput source = input(100, 3);
  const auto joined = windowed_states(*decoder_, source, 0.5);
  ASSERT_TRUE(joined.ok()) << joined.error().to_string();
  const auto windows = windows_of(100, decoder_->shape().sequence.source_context, 0.5);
  ASSERT_GT(windows.size(), 2);
  for (const Window& window : windows) {
    nn::SequenceInput part;
    part.ids.assign(source.ids.begin() + window.begin, source.ids.begin() + window.end);
    const auto alone = decoder_->encode(part, nn::Recompute::nothing);
    const int64_t count = window.kept_end - window.kept_begin;
    EXPECT_TRUE(at::equal(joined->narrow(0, window.kept_begin, count),
                          alone->squeeze(0).narrow(0, window.kept_begin - window.begin, count)))
        << window.kept_begin;
  }
}

TEST_F(IndexTest, a_source_that_fits_is_attended_to_as_ever) {
  nn::StepModel plain(decoder_);
  nn::StepModel model = retrieving(40);
  EXPECT_LT(largest_difference(read(model, 30), read(plain, 30)), 2e-5F);
}

TEST_F(IndexTest, all_states_of_a_long_source_are_full_cross_attention) {
  nn::StepModel whole(std::make_shared<ReadsWindows>(decoder_));
  nn::StepModel model = retrieving(1000);
  const std::vector<float> expected = read(whole, 150);
  EXPECT_LT(largest_difference(read(model, 150), expected), 2e-5F);
  nn::StepModel few = retrieving(4);
  EXPECT_GT(largest_difference(read(few, 150), expected), 0.05F);
}

TEST_F(IndexTest, adapters_of_keys_and_values_change_what_is_retrieved) {
  nn::AdapterSet set;
  at::manual_seed(3);
  for (const char* name : {"decoder.layers.0.encoder_attn.k_proj",
                           "decoder.layers.1.encoder_attn.v_proj", "encoder.layers.0.fc1"}) {
    const int64_t outputs = std::string(name).ends_with("fc1") ? 20 : 12;
    set.linears[name] = {at::randn({2, 12}), at::randn({outputs, 2}), 0.5};
  }
  nn::StepModel model = retrieving(1000);
  const std::vector<float> without = read(model, 90);
  const auto bound = model.bind(set);
  ASSERT_TRUE(bound.ok()) << bound.error().to_string();
  adapters_ = *bound;
  nn::StepModel whole(std::make_shared<ReadsWindows>(decoder_));
  const std::vector<float> with = read(model, 90);
  EXPECT_LT(largest_difference(with, read(whole, 90)), 5e-5F);
  EXPECT_GT(largest_difference(with, without), 0.05F);
}

TEST_F(IndexTest, each_head_reads_its_best) {
  constexpr int64_t kRetrieved = 5;
  const at::Tensor states = at::randn({70, 12});
  const nn::Linear& projection = weights_->layers[1].cross_key_value;
  const SourceIndex index(
      states, {head_projections(projection, 3, nullptr), head_projections(projection, 3, nullptr)},
      kRetrieved);
  EXPECT_EQ(index.bytes(), 70 * 12 * 4);
  const at::Tensor queries = at::randn({3, 4});
  // In float64 by the formula, with the keys that the index never makes.
  const at::Tensor both = at::linear(states.to(at::kDouble), projection.weight.to(at::kDouble),
                                     projection.bias.to(at::kDouble))
                              .view({70, 2, 3, 4});
  for (int64_t head = 0; head < 3; ++head) {
    const at::Tensor keys = both.select(1, 0).select(1, head);
    const at::Tensor values = both.select(1, 1).select(1, head);
    const at::Tensor scores =
        at::mv(keys, queries.select(0, head).to(at::kDouble)) / std::sqrt(4.0);
    const auto [best, places] = scores.topk(kRetrieved);
    const at::Tensor expected =
        at::mv(values.index_select(0, places).t(), best.softmax(0)).to(at::kFloat);
    EXPECT_LT((index.attend(1, queries).select(0, head) - expected).abs().max().item<float>(),
              1e-5F);
  }
}

TEST(Highest, rising_indices_with_the_earlier_of_equal_scores) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> scores = {1, 3, 2, 3, 2, nan, 2};
  EXPECT_THAT(highest(scores.data(), 7, 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(highest(scores.data(), 7, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(highest(scores.data(), 7, 6), ElementsAre(0, 1, 2, 3, 4, 6));
  EXPECT_THAT(highest(scores.data(), 3, 9), ElementsAre(0, 1, 2));
}

TEST_F(IndexTest, what_cannot_be_read_is_refused) {
  nn::StepModel model = retrieving(4);
  ASSERT_TRUE(model.begin(1, 8).ok());
  std::vector<float> logits(60);
  EXPECT_FALSE(model.prefill(0, {}, logits).ok());
  const auto broken = std::make_shared<architectures::BartWeights>(*weights_);
  auto encoder = std::make_shared<architectures::EncoderWeights>(*weights_->encoder);
  encoder->token_embeddings = encoder->token_embeddings.clone();
  encoder->token_embeddings[5].fill_(std::numeric_limits<float>::infinity());
  broken->encoder = encoder;
  const auto states =
      windowed_states(*architectures::make_bart_decoder(broken), {.ids = {4, 5, 6}}, 0.5);
  ASSERT_FALSE(states.ok());
  EXPECT_EQ(states.error().message, "the encoder's states of tokens 0 to 3 are not finite");
}

}  // namespace
}  // namespace qfs::unlimiformer
