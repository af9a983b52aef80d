// A scorer of snippets: its loss, what gradients reach, and the file of a trained locator.
#include "methods/models/ranking/scorer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "harness/core/files.h"
#include "methods/models/architectures/bert/encoder_folder.h"
#include "methods/models/architectures/bert/transformer_encoder.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/peft/tensor_files.h"
#include "methods/models/ranking/locator.h"
#include "methods/models/ranking/scorer_params.h"
#include "methods/models/ranking/scorer_tensors.h"
#include "tests/support/tiny_encoder.h"

namespace qfs::ranking {
namespace {

using ::testing::HasSubstr;

std::vector<double> doubles(const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kDouble).contiguous().flatten();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

TEST(TargetLoss, is_the_mean_cross_entropy_of_each_target) {
  const c10::AutoGradMode gradients(true);
  const std::vector<double> given = {0.5, -1.25, 2.0, 0.0};
  const at::Tensor scores = at::tensor(given).set_requires_grad(true);
  const std::vector<int64_t> targets = {2, 0, 2};  // one that counts twice
  const at::Tensor loss = target_loss(scores, targets);
  double sum = 0;
  for (const double score : given) sum += std::exp(score);
  double wanted = 0;
  for (const int64_t i : targets) {
    wanted -= std::log(std::exp(given[static_cast<size_t>(i)]) / sum) / 3;
  }
  EXPECT_NEAR(loss.item<double>(), wanted, 1e-12);
  loss.backward();
  const std::vector<double> gradient = doubles(scores.grad());
  for (size_t i = 0; i < given.size(); ++i) {
    const auto share =
        static_cast<double>(std::ranges::count(targets, static_cast<int64_t>(i))) / 3;
    EXPECT_NEAR(gradient[i], std::exp(given[i]) / sum - share, 1e-12) << i;
  }
  EXPECT_EQ(target_loss(scores, {}).item<double>(), 0);
}

class ScorerTest : public ::testing::Test {
 protected:
  ScorerTest() {
    ::setenv("QFS_CACHE_DIR", folder_.path().c_str(), 1);
    EXPECT_TRUE(nn::configure_torch({}).ok());
    model_ = test::TinyEncoder().write(encoder_);
    auto scorer = SnippetScorer::open(model_, cache_);
    EXPECT_TRUE(scorer.ok()) << scorer.error().to_string();
    scorer_ = *scorer;
    tensors_ = fresh({});
  }

  ScorerTensors fresh(const Params& params) const {
    auto tensors = new_scorer_tensors(*scorer_, params,
                                      {.rank = 2, .alpha = 2, .targets = {"query", "value"}}, 5);
    EXPECT_TRUE(tensors.ok()) << tensors.error().to_string();
    return *std::move(tensors);
  }

  static Params by_similarity() {
    Params params;
    params.set("score", std::string("similarity"));
    return params;
  }

  at::Tensor scores(const ScorerTensors& tensors) const {
    const bool apart = tensors.head.contains(kSimilarity);
    const auto packed = scorer_->pack("hat", {{{{"ann: a red hat"}}}, {{{"no"}}}, {{{"a hat"}}}},
                                      {48, 4, false, apart});
    return *scorer_->scores(*packed, tensors.head, *scorer_->bind(tensors.adapter.layers));
  }

  const test::TemporaryFolder folder_;
  const test::TemporaryFolder encoder_;
  ResourceCache cache_;
  Resource model_;
  std::shared_ptr<const SnippetScorer> scorer_;
  ScorerTensors tensors_;
};

TEST_F(ScorerTest, gradients_of_the_loss_reach_matrices_and_head_as_differences_say) {
  const c10::AutoGradMode gradients(true);
  for (const Params& params : {Params(), by_similarity()}) {
    tensors_ = fresh(params);
    training::NamedTensors leaves;
    for (const auto& [name, tensor] : tensors_.all()) {
      // B is zero at first, where A has no gradient.
      const at::Tensor values = name.ends_with("lora_B.weight")
                                    ? at::linspace(-0.3, 0.4, tensor.numel()).view(tensor.sizes())
                                    : tensor.clone();
      leaves[name] = values.detach().set_requires_grad(true);
    }
    tensors_.replace(leaves);
    const std::vector<int64_t> targets = {2, 0};
    target_loss(scores(tensors_), targets).backward();
    const auto loss_with = [&](const std::string& name, const at::Tensor& values) {
      const c10::AutoGradMode off(false);
      training::NamedTensors changed = leaves;
      changed[name] = values;
      ScorerTensors other = tensors_;
      other.replace(changed);
      return target_loss(scores(other), targets).item<double>();
    };
    size_t matrices = 0;
    for (const auto& [name, leaf] : leaves) {
      ASSERT_TRUE(leaf.grad().defined()) << name;
      if (name.find("lora_") != std::string::npos) ++matrices;
      // Along its own gradient: the slope is the gradient's square.
      const at::Tensor along = leaf.grad();
      const double square = along.square().sum().item<double>();
      const double step = 1e-2 / std::sqrt(std::max(square, 1e-6));
      const at::Tensor values = leaf.detach();
      const double slope =
          (loss_with(name, values + along * step) - loss_with(name, values - along * step)) /
          (2 * step);
      EXPECT_NEAR(slope, square, 0.02 * square + 1e-4) << name;
      if (name != "classifier.bias") {  // which moves all scores alike
        EXPECT_GT(square, 0) << name;
      }
    }
    EXPECT_EQ(matrices, 2U * 2U * 2U);
    EXPECT_EQ(leaves.size(), matrices + (scores_by_similarity(params) ? 3 : 2));
  }
}

TEST_F(ScorerTest, similarity_is_the_cosine_of_mean_states_of_texts_that_are_read_apart) {
  ScorerTensors tensors = fresh(by_similarity());
  EXPECT_EQ(tensors.head.at(kSimilarity).item<float>(), 5);
  tensors.head["classifier.weight"].zero_();
  tensors.head["classifier.bias"].fill_(0.5);
  const auto scored = [&](const std::string& query, const std::vector<std::string>& texts,
                          int64_t chunk_tokens) {
    std::vector<Snippet> snippets;
    for (const std::string& text : texts) snippets.push_back({{{text}}});
    const auto packed = scorer_->pack(query, snippets, {chunk_tokens, 4, false, true});
    return doubles(*scorer_->scores(*packed, tensors.head, nullptr));
  };
  // Each in a chunk of its own.
  const std::vector<double> alone = scored("a hat", {"a red hat", "a hat", "so long"}, 11);
  EXPECT_NEAR(alone[1], 5.5, 1e-5);
  EXPECT_LT(alone[0], 5.49);
  // As dot products of the states say it.
  const auto mean_of = [&](const std::string& text) {
    const auto packed = scorer_->pack(text, {{{{"no"}}}}, {48, 4, false, true});
    const auto folder = architectures::open_encoder_folder(model_, scorer_types(), cache_);
    const architectures::EncoderInput input{packed->query, {}};
    return architectures::TransformerEncoder(folder->weights)
        .hidden_states({&input, 1}, folder->weights->config.layers)
        ->squeeze(0)
        .mean(0)
        .to(at::kDouble);
  };
  const at::Tensor hat = mean_of("a hat");
  const at::Tensor red = mean_of("a red hat");
  const double cosine = (hat.dot(red) / (hat.norm() * red.norm())).item<double>();
  EXPECT_NEAR(alone[0], 5 * cosine + 0.5, 1e-4);
  // In one chunk the states of each see the others, whose order then matters.
  const std::vector<double> together = scored("a hat", {"a red hat", "a hat", "so long"}, 48);
  const std::vector<double> turned = scored("a hat", {"a hat", "a red hat", "so long"}, 48);
  EXPECT_GT(std::abs(together[1] - alone[1]), 1e-4);
  EXPECT_GT(std::abs(together[1] - turned[0]), 1e-4);
  // Of a head alone the query is no part where it is read apart.
  tensors.head["classifier.weight"].fill_(1);
  tensors.head[kSimilarity].zero_();
  EXPECT_EQ(scored("a hat", {"no"}, 48), scored("so", {"no"}, 48));
}

TEST_F(ScorerTest, dropout_falls_on_the_encoder_and_on_what_the_head_reads) {
  EXPECT_EQ(scorer_->dropout(), (nn::DropoutRates{.residual = 0.1, .attention = 0.1}));
  const auto packed = scorer_->pack(
      "hat", {{{{"a red hat"}}}, {{{"no"}}}, {{{"a hat"}}}, {{{"so"}}}, {{{"the hat"}}}}, {48, 4});
  // Scores are one number of each state, so that the head's dropout makes them 0 or twice as large.
  const training::NamedTensors head = {
      {"classifier.weight", at::eye(scorer_->width()).narrow(0, 3, 1)},
      {"classifier.bias", at::zeros({1})}};
  const at::Tensor plain = *scorer_->scores(*packed, head, nullptr);
  const nn::Dropout dropout{{.residual = 0.5}, 7};
  const at::Tensor dropped =
      *scorer_->scores(*packed, head, nullptr, nn::Recompute::nothing, &dropout);
  const at::Tensor zero = dropped.eq(0);
  EXPECT_GT(zero.sum().item<int64_t>(), 0);
  EXPECT_LT(zero.sum().item<int64_t>(), 5);
  EXPECT_GT((dropped - 2 * plain).abs().masked_select(zero.logical_not()).min().item<float>(),
            1e-4);
  EXPECT_TRUE(at::equal(
      dropped, *scorer_->scores(*packed, head, nullptr, nn::Recompute::nothing, &dropout)));
}

TEST_F(ScorerTest, recomputed_layers_give_the_same_gradients) {
  const c10::AutoGradMode gradients(true);
  for (const Params& params : {Params(), by_similarity()}) {
    const bool apart = scores_by_similarity(params);
    const ScorerTensors first = fresh(params);
    const auto packed =
        scorer_->pack("hat", {{{{"a red hat"}}}, {{{"no"}}}}, {48, 4, false, apart});
    const nn::Dropout dropout{{0.5, 0.5, 0.5}, 7};
    std::vector<std::vector<double>> found;
    for (const auto recompute : {nn::Recompute::nothing, nn::Recompute::layers}) {
      ScorerTensors tensors = first;
      training::NamedTensors leaves;
      for (const auto& [name, tensor] : tensors.all()) {
        leaves[name] = tensor.clone().set_requires_grad(true);
      }
      tensors.replace(leaves);
      const auto scored = scorer_->scores(
          *packed, tensors.head, *scorer_->bind(tensors.adapter.layers), recompute, &dropout);
      ASSERT_TRUE(scored.ok());
      target_loss(*scored, std::vector<int64_t>{0}).backward();
      std::vector<double> all;
      for (const auto& [name, leaf] : leaves) {
        for (const double value : doubles(leaf.grad())) all.push_back(value);
      }
      found.push_back(std::move(all));
    }
    EXPECT_EQ(found[0], found[1]);
  }
}

TEST_F(ScorerTest, a_query_is_as_long_as_the_encoder_reads_at_most) {
  const std::string longest(62, 'q');  // of 64 with the special ones
  EXPECT_TRUE(scorer_->pack(longest, {{{{"no"}}}}, {16, 4, false, true}).ok());
  EXPECT_THAT(scorer_->pack(longest + "q", {{{{"no"}}}}, {16, 4, false, true}).error().message,
              HasSubstr("a query of 65 tokens; the extractor reads 64"));
}

TEST_F(ScorerTest, a_file_has_what_was_trained_and_by_which_rule) {
  const std::map<std::string, std::string> metadata = {
      {"qfs.backbone", model_.digest}, {"qfs.recipe", R"({"chunk_tokens":48,"max_chunks":3})"}};
  const std::string path = folder_ / "locator.safetensors";
  const auto put = [&](const std::map<std::string, std::string>& said) {
    EXPECT_TRUE(write_file(path, locator_bytes(tensors_, said, at::kFloat)).ok());
    return read_locator(path, model_);
  };
  const auto file = put(metadata);
  ASSERT_TRUE(file.ok()) << file.error().to_string();
  EXPECT_EQ(file->rule.chunk_tokens, 48);
  EXPECT_EQ(file->rule.max_chunks, 3);
  EXPECT_FALSE(file->rule.padded);
  for (const auto& [name, tensor] : tensors_.all()) {
    EXPECT_TRUE(file->tensors.all().at(name).equal(tensor)) << name;
  }
  EXPECT_EQ(file->tensors.adapter.layers.begin()->second.scale, 1);
  EXPECT_FALSE(file->rule.query_apart);

  const ScorerTensors plain = std::exchange(tensors_, fresh(by_similarity()));
  const auto similar = put(metadata);
  ASSERT_TRUE(similar.ok()) << similar.error().to_string();
  EXPECT_TRUE(similar->rule.query_apart);
  EXPECT_EQ(similar->tensors.head.at(kSimilarity).item<float>(), 5);
  tensors_ = plain;

  auto other = metadata;
  other["qfs.backbone"] = std::string(64, 'a');
  EXPECT_THAT(put(other).error().message, HasSubstr("trained over the encoder aaaa"));
  other = metadata;
  other["qfs.recipe"] = R"({"chunk_tokens":48})";
  EXPECT_THAT(put(other).error().message, HasSubstr("has no 'max_chunks'"));
  tensors_.head.erase("classifier.bias");
  EXPECT_THAT(put(metadata).error().message, HasSubstr("head is not whole"));
  tensors_.head["rag.dynamic_mlp.0.bias"] = at::zeros({2});
  EXPECT_THAT(put(metadata).error().message, HasSubstr("is none of a locator's"));
  EXPECT_TRUE(
      write_file(path, peft::tensor_file_bytes({{"a", at::zeros({2})}}, {}, at::kFloat)).ok());
  EXPECT_THAT(read_locator(path, model_).error().message,
              HasSubstr("no trained file of 'locator'"));
}

}  // namespace
}  // namespace qfs::ranking
