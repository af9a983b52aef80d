// Several rows of a model for one output: one row is plain search, and what caches give, beams that
// change places included, is what reading everything anew gives.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>

#include "harness/core/sha256.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/decoding/generator.h"
#include "methods/models/decoding/search.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/registry/registry.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/tiny_seq2seq.h"

namespace qfs::decoding {
namespace {

using nn::SequenceInput;
using ::testing::HasSubstr;

/// Weights by the first element of the states, so that rows that were mixed up would be seen.
at::Tensor weights_of(const at::Tensor& states) {
  return (states.select(1, 0) * 3).log_softmax(0).unsqueeze(1);
}

class FirstElementMixer final : public RowMixer {
 public:
  Status mix(std::span<const float> logits, const at::Tensor& states,
             std::span<float> mixed) override {
    const at::Tensor rows = at::from_blob(const_cast<float*>(logits.data()),
                                          {states.size(0), static_cast<int64_t>(mixed.size())});
    const at::Tensor sum =
        at::logsumexp(at::log_softmax(rows, 1) + weights_of(states), 0).contiguous();
    std::copy_n(sum.const_data_ptr<float>(), mixed.size(), mixed.data());
    return {};
  }
};

std::vector<DecodingOptions> searches() {
  return {{.max_new_tokens = 10},
          {.max_new_tokens = 10, .beams = BeamOptions{.count = 4}},
          {.max_new_tokens = 10, .no_repeat_ngram = 2, .beams = BeamOptions{.count = 3}}};
}

class MixedTest : public ::testing::Test {
 protected:
  MixedTest() {
    ::setenv("QFS_CACHE_DIR", folder_.path().c_str(), 1);
    EXPECT_TRUE(nn::configure_torch({}).ok());
  }

  void open_llama() {
    const std::string bytes = qfs::test::TinyLlama{.layers = 3}.bytes();
    open({"tiny", folder_.write("m.gguf", bytes), sha256_hex(bytes)});
  }
  void open_seq2seq() {
    open(*registry::resolve_backbone(qfs::test::TinySeq2Seq().write(seq2seq_)));
  }
  void open(const Resource& resource) {
    auto backbone = architectures::open_backbone(resource);
    ASSERT_TRUE(backbone.ok()) << backbone.error().to_string();
    backbone_ = *backbone;
    ResourceCache cache;
    decoder_ = *backbone_->network->decoder({}, backbone_->digest, cache);
  }
  Generator generator() const {
    ResourceCache cache;
    auto model = backbone_->network->open({}, backbone_->digest, cache);
    EXPECT_TRUE(model.ok());
    return {backbone_->tokenizer, *std::move(model)};
  }

  static std::vector<SequenceInput> rows(int64_t count) {
    std::vector<SequenceInput> inputs;
    for (int64_t k = 0; k < count; ++k) {
      inputs.push_back({.ids = qfs::test::some_tokens(4 + 3 * k, static_cast<int32_t>(k + 1))});
    }
    return inputs;
  }

  Generated mixed(const std::vector<SequenceInput>& inputs, const DecodingOptions& options) const {
    FirstElementMixer mixer;
    const MixedInput input{inputs, &mixer};
    Generator writer = generator();
    const auto result = writer.generate_mixed({&input, 1}, options);
    EXPECT_TRUE(result.ok()) << result.error().to_string();
    return result.ok() ? result->rows.front() : Generated();
  }

  /// The same with everything read anew at every step.
  Generated uncached(const std::vector<SequenceInput>& inputs, const DecodingOptions& options) {
    const nn::SequenceShape& shape = decoder_->shape().sequence;
    const SearchInput about = {*backbone_->tokenizer, options,
                               shape.encoder_decoder()
                                   ? std::span<const int32_t>(shape.decoder_start)
                                   : std::span<const int32_t>(),
                               shape.vocabulary, 0};
    const auto search = options.beams ? make_beam_search(about) : make_single_search(about);
    std::vector<std::vector<int32_t>> beams = {{}};
    while (!beams.empty()) {
      std::vector<float> scores;
      for (const auto& beam : beams) append_scores(inputs, beam, scores);
      const auto next = search->advance(scores);
      EXPECT_TRUE(next.ok());
      std::vector<std::vector<int32_t>> continued;
      for (const Continuation& one : *next) {
        // Of the first step's one there are copies.
        const bool moved = one.source != static_cast<int64_t>(continued.size());
        if (moved && beams.size() > 1) ++moved_;
        continued.push_back(beams[static_cast<size_t>(one.source)]);
        continued.back().push_back(one.token);
      }
      beams = std::move(continued);
    }
    return search->take();
  }

  qfs::test::TemporaryFolder folder_;
  qfs::test::TemporaryFolder seq2seq_;
  std::shared_ptr<const architectures::Backbone> backbone_;
  std::shared_ptr<const nn::Decoder> decoder_;
  int64_t moved_ = 0;  ///< beams that `uncached` continued in another place

  /// Searches over one row write the tokens of searches without a mixer.
  void expect_one_row_is_plain_search(const std::vector<DecodingOptions>& options) {
    const auto input = rows(1);
    std::set<std::vector<int32_t>> written;
    size_t changed = 0;  // by a second row
    for (const DecodingOptions& one : options) {
      Generator writer = generator();
      const auto plain = writer.generate(input, one);
      ASSERT_TRUE(plain.ok()) << plain.error().to_string();
      const Generated own = mixed(input, one);
      EXPECT_EQ(own.ids, plain->rows.front().ids);
      EXPECT_EQ(own.finish, plain->rows.front().finish);
      if (one.beams) {
        EXPECT_NEAR(own.score.value(), plain->rows.front().score.value(), 1e-4);
      }
      if (mixed(rows(2), one).ids != own.ids) ++changed;
      written.insert(own.ids);
    }
    EXPECT_GT(written.size(), 1U) << "all searches write the same";
    EXPECT_GT(2 * changed, options.size()) << "another row would not be seen";
  }

  /// Searches over three rows, each with its cache and reading anew; beams change places in them.
  void expect_caches_change_nothing() {
    for (const DecodingOptions& options : searches()) {
      const auto inputs = rows(3);
      const Generated cached = mixed(inputs, options);
      const Generated anew = uncached(inputs, options);
      EXPECT_EQ(cached.ids, anew.ids);
      if (options.beams) {
        EXPECT_NEAR(*cached.score, *anew.score, 1e-4);
        EXPECT_GT(std::exchange(moved_, 0), 0);
      }
    }
  }

 private:
  void append_scores(const std::vector<SequenceInput>& inputs, const std::vector<int32_t>& beam,
                     std::vector<float>& scores) const {
    const nn::SequenceShape& shape = decoder_->shape().sequence;
    std::vector<at::Tensor> logits;
    std::vector<at::Tensor> states;
    for (SequenceInput input : inputs) {
      if (shape.encoder_decoder()) input.decoder_ids = shape.decoder_start;
      auto& ids = shape.encoder_decoder() ? input.decoder_ids : input.ids;
      ids.insert(ids.end(), beam.begin(), beam.end());
      const at::Tensor all = *nn::sequence_states(*decoder_, {&input, 1});
      states.push_back(all.narrow(0, all.size(0) - 1, 1));
      logits.push_back(nn::apply(decoder_->head(), states.back()));
    }
    const at::Tensor sum =
        at::logsumexp(at::log_softmax(at::cat(logits), 1) + weights_of(at::cat(states)), 0);
    scores.insert(scores.end(), sum.const_data_ptr<float>(),
                  sum.const_data_ptr<float>() + sum.numel());
  }
};

TEST_F(MixedTest, one_row_is_plain_search) {
  open_llama();
  auto options = searches();
  // Plain search counts the prompt's n-grams; prompts of several rows have none in common.
  for (DecodingOptions& one : options) one.no_repeat_ngram = 0;
  expect_one_row_is_plain_search(options);
}

TEST_F(MixedTest, one_row_of_an_encoder_decoder_is_plain_search) {
  open_seq2seq();
  auto options = searches();
  options.push_back({.max_new_tokens = 10, .no_repeat_ngram = 1});
  for (const DecodingOptions& one : std::vector(options)) {
    options.push_back(one);
    options.back().forced_first = 0;
    options.back().forced_last = 2;
  }
  expect_one_row_is_plain_search(options);
}

TEST_F(MixedTest, caches_give_what_reading_anew_gives) {
  open_llama();
  expect_caches_change_nothing();
}

TEST_F(MixedTest, rows_of_an_encoder_decoder_are_mixed_likewise) {
  open_seq2seq();
  expect_caches_change_nothing();
}

TEST_F(MixedTest, outputs_of_several_rows_share_a_batch) {
  open_llama();
  const DecodingOptions options = searches()[1];
  const auto three = rows(3);
  const auto two = rows(2);
  FirstElementMixer mixer;
  const std::vector<MixedInput> both = {{three, &mixer}, {two, &mixer}};
  Generator writer = generator();
  const auto together = writer.generate_mixed(both, options);
  ASSERT_TRUE(together.ok());
  EXPECT_EQ(together->rows[0].ids, mixed(three, options).ids);
  EXPECT_EQ(together->rows[1].ids, mixed(two, options).ids);
  EXPECT_LT(together->times.decode_tokens, 2 * options.max_new_tokens) << "of outputs, not of rows";
}

TEST_F(MixedTest, rows_without_a_mixer_and_outputs_without_rows_are_refused) {
  open_llama();
  const auto inputs = rows(2);
  Generator writer = generator();
  const MixedInput unmixed{inputs, nullptr};
  EXPECT_THAT(writer.generate_mixed({&unmixed, 1}, {}).error().message, HasSubstr("need a mixer"));
  const MixedInput none{};
  EXPECT_THAT(writer.generate_mixed({&none, 1}, {}).error().message, HasSubstr("has no rows"));
}

}  // namespace
}  // namespace qfs::decoding
