// Tokens that a model draws where its logits are equal those that the host draws from the same
// logits, whatever the options; where more than a draw decides, the host chooses.
#include "methods/models/nn/device/device_draw.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "methods/models/architectures/llama/device_llama.h"
#include "methods/models/decoding/generator.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/kernel_device.h"
#include "tests/support/letter_tokenizer.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace qfs::generation {
namespace {

using ::qfs::test::some_tokens;
using ::qfs::test::TinyLlama;
using ::testing::HasSubstr;

/// Steps that a model was asked for.
struct Asked {
  int logits = 0;
  int draws = 0;
};

/// A model that counts its steps and can be kept from drawing.
class WatchedModel final : public backbones::SequenceModel {
 public:
  WatchedModel(std::unique_ptr<backbones::SequenceModel> model, bool draws, Asked& asked)
      : model_(std::move(model)), draws_(draws), asked_(asked) {}

  const backbones::SequenceShape& shape() const override { return model_->shape(); }
  Status begin(int64_t rows, int64_t capacity) override { return model_->begin(rows, capacity); }
  Status prefill(int64_t row, const backbones::SequenceInput& input,
                 std::span<float> logits) override {
    return model_->prefill(row, input, logits);
  }
  Status decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                std::span<float> logits) override {
    ++asked_.logits;
    return model_->decode(rows, tokens, logits);
  }
  bool draws() const override { return draws_ && model_->draws(); }
  Status decode_draw(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                     const backbones::DrawRule& rule, std::span<const double> uniforms,
                     std::span<int32_t> ids) override {
    ++asked_.draws;
    return model_->decode_draw(rows, tokens, rule, uniforms, ids);
  }
  Status reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) override {
    return model_->reassign(rows, sources);
  }

 private:
  std::unique_ptr<backbones::SequenceModel> model_;
  bool draws_;
  Asked& asked_;
};

class DeviceDrawTest : public ::testing::Test {
 protected:
  DeviceDrawTest() {
    EXPECT_TRUE(backbones::configure_torch({}).ok());
    device_ = test::kernel_device();
    if (test::on_cuda()) {
      EXPECT_TRUE(backbones::configure_torch({.device = "cuda", .dtype = "float32"}).ok());
    }
    TinyLlama tiny;
    tiny.tied = false;
    const auto file = checkpoints::GgufFile::open(folder_.write("m.gguf", tiny.bytes()));
    EXPECT_TRUE(file.ok());
    const auto loaded = backbones::load_llama_weights(*file);
    EXPECT_TRUE(loaded.ok());
    weights_ = *backbones::copy_to_device(**loaded, device_.place, at::kFloat);
  }

  Generator generator(bool draws) { return generator(draws, weights_); }
  Generator generator(bool draws,
                      const std::shared_ptr<const backbones::DeviceLlamaWeights>& weights) {
    asked_ = {};
    auto model = backbones::make_device_model(weights, device_.services);
    return {std::make_shared<test::LetterTokenizer>(),
            std::make_unique<WatchedModel>(std::move(model), draws, asked_)};
  }

  static std::vector<std::vector<int32_t>> ids_of(const Result<GenerationResult>& result) {
    EXPECT_TRUE(result.ok()) << result.error().to_string();
    std::vector<std::vector<int32_t>> ids;
    for (const Generated& row : result->rows) ids.push_back(row.ids);
    return ids;
  }

  static DecodingOptions sampling(const SamplingOptions& how) {
    DecodingOptions options{.max_new_tokens = 9, .stop_ids = {TinyLlama::kEnd}};
    options.sampling = how;
    return options;
  }

  const std::vector<backbones::SequenceInput> inputs_ = {
      {.ids = some_tokens(5, 1)}, {.ids = some_tokens(40, 2)}, {.ids = some_tokens(5, 1)}};
  test::TemporaryFolder folder_;
  test::KernelDevice device_;
  std::shared_ptr<const backbones::DeviceLlamaWeights> weights_;
  Asked asked_;
};

TEST_F(DeviceDrawTest, draws_are_the_hosts_for_every_seed_and_option) {
  for (const NucleusRule rule : {NucleusRule::reaches, NucleusRule::exceeds}) {
    for (const double top_p : {0.3, 0.9, 1.0, 1.5}) {
      for (const int64_t top_k : {-1, 0, 3, 60}) {
        for (uint64_t seed = 0; seed < 5; ++seed) {
          const DecodingOptions options =
              sampling({.temperature = 1.3, .top_k = top_k, .top_p = top_p, .nucleus = rule});
          const std::vector<uint64_t> seeds = {3 * seed, 3 * seed + 1, 3 * seed + 2};
          const auto on_host = ids_of(generator(false).generate(inputs_, options, seeds));
          EXPECT_EQ(asked_.draws, 0);
          EXPECT_EQ(ids_of(generator(true).generate(inputs_, options, seeds)), on_host)
              << "top_p " << top_p << " top_k " << top_k << " seed " << seed;
          EXPECT_EQ(asked_.logits, 0);
          EXPECT_GT(asked_.draws, 0);
        }
      }
    }
  }
}

TEST_F(DeviceDrawTest, rows_of_a_batch_draw_as_they_do_alone) {
  const DecodingOptions options = sampling({.temperature = 1.1, .top_p = 0.95});
  const std::vector<uint64_t> seeds = {7, 8, 9};
  const auto together = ids_of(generator(true).generate(inputs_, options, seeds));
  EXPECT_NE(together[0], together[2]);  // one prompt, two seeds
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const auto alone = generator(true).generate({&inputs_[i], 1}, options, {&seeds[i], 1});
    EXPECT_EQ(ids_of(alone).front(), together[i]);
  }
}

TEST_F(DeviceDrawTest, the_host_chooses_where_a_rule_of_tokens_applies) {
  const auto steps = [&](const DecodingOptions& options) {
    EXPECT_EQ(ids_of(generator(true).generate({inputs_.data(), 1}, options, {{5}})),
              ids_of(generator(false).generate({inputs_.data(), 1}, options, {{5}})));
    generator(true).generate({inputs_.data(), 1}, options, {{5}}).ok();
    return std::pair(asked_.logits, asked_.draws);
  };
  DecodingOptions options = sampling({.temperature = 1.5});
  options.ignore_stops = true;
  // The first token comes from the prompt's logits.
  EXPECT_EQ(steps(options), std::pair(0, 8));
  options.no_repeat_ngram = 2;
  EXPECT_EQ(steps(options), std::pair(8, 0));
  options.no_repeat_ngram = 0;
  options.min_new_tokens = 4;
  EXPECT_EQ(steps(options), std::pair(3, 5));
  options.min_new_tokens = 0;
  options.forced_first = 7;
  EXPECT_EQ(steps(options), std::pair(0, 8));
  options.ignore_stops = false;
  options.stop_ids = {};
  options.forced_last = 9;
  EXPECT_EQ(steps(options), std::pair(1, 7));
  options.sampling.reset();
  EXPECT_EQ(steps(options), std::pair(8, 0));
}

TEST_F(DeviceDrawTest, damaged_logits_are_the_error_that_they_are_on_the_host) {
  const DecodingOptions options = sampling({.top_k = 1});
  const auto whole = ids_of(generator(true).generate({inputs_.data(), 1}, options, {{5}}));
  // The first token's embedding is damaged: the prompt's logits are not.
  const auto damaged = std::make_shared<backbones::DeviceLlamaWeights>(*weights_);
  damaged->embedding = weights_->embedding.clone();
  damaged->embedding.select(0, whole[0][0]).fill_(std::numeric_limits<float>::quiet_NaN());
  for (const bool draws : {true, false}) {
    const auto result = generator(draws, damaged).generate({inputs_.data(), 1}, options, {{5}});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::data);
    EXPECT_THAT(result.error().message, HasSubstr("not a number"));
    EXPECT_EQ(asked_.draws, draws ? 1 : 0);
  }
}

/// A model whose eight tokens are always as probable as one another.
class LevelModel : public backbones::SequenceModel {
 public:
  static constexpr int64_t kTokens = 8;

  const backbones::SequenceShape& shape() const override { return shape_; }
  Status begin(int64_t, int64_t) override { return {}; }
  Status prefill(int64_t, const backbones::SequenceInput&, std::span<float> logits) override {
    std::ranges::fill(logits, 1.5f);
    return {};
  }
  Status decode(std::span<const int64_t>, std::span<const int32_t>,
                std::span<float> logits) override {
    std::ranges::fill(logits, 1.5f);
    return {};
  }
  Status reassign(std::span<const int64_t>, std::span<const int64_t>) override { return {}; }

 private:
  backbones::SequenceShape shape_ = {.vocabulary = kTokens, .context = 1000};
};

class DrawingLevelModel final : public LevelModel {
 public:
  explicit DrawingLevelModel(const test::KernelDevice& device) : device_(device) {}

  bool draws() const override { return true; }
  Status decode_draw(std::span<const int64_t> rows, std::span<const int32_t>,
                     const backbones::DrawRule& rule, std::span<const double> uniforms,
                     std::span<int32_t> ids) override {
    const at::Tensor logits = at::full({static_cast<int64_t>(rows.size()), kTokens}, 1.5);
    backbones::draw(device_.services, logits.to(device_.place, at::kFloat), rule, uniforms, ids);
    return {};
  }

 private:
  const test::KernelDevice& device_;
};

TEST_F(DeviceDrawTest, each_rule_cuts_the_nucleus_where_the_host_does) {
  const auto tokenizer = std::make_shared<test::LetterTokenizer>();
  for (const NucleusRule rule : {NucleusRule::reaches, NucleusRule::exceeds}) {
    DecodingOptions options{.max_new_tokens = 200};
    // Four tokens have half of the mass: exactly top_p lies before the fifth.
    options.sampling = SamplingOptions{.top_p = 0.5, .nucleus = rule};
    Generator host(tokenizer, std::make_unique<LevelModel>());
    Generator drawing(tokenizer, std::make_unique<DrawingLevelModel>(device_));
    const auto on_host = ids_of(host.generate({inputs_.data(), 1}, options, {{5}}));
    EXPECT_EQ(ids_of(drawing.generate({inputs_.data(), 1}, options, {{5}})), on_host);
    EXPECT_EQ(std::ranges::max(on_host[0]), rule == NucleusRule::exceeds ? 4 : 3);
  }
}

TEST_F(DeviceDrawTest, a_model_that_draws_nothing_says_so) {
  LevelModel model;
  EXPECT_FALSE(model.draws());
  EXPECT_EQ(model.decode_draw({}, {}, {}, {}, {}).error().kind, ErrorKind::internal);
}

}  // namespace
}  // namespace qfs::generation
