// Compressors equal a float64 reference in Python on a tiny LLaMA (make_compressors_expected.py):
// logits behind a compressed prompt, losses, and gradients of what is trained, which are its finite
// differences, under every memory policy.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "methods/compressors/session_lingua.h"
#include "methods/compressors/session_lora_compressors.h"
#include "methods/compressors/session_selfcp.h"
#include "methods/compressors/session_train.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::compressors {
namespace {

using nlohmann::json;

const json& expected() {
  static const json kExpected = [] {
    std::ifstream file("tests/conformance/compressors/compressors_expected.json");
    return json::parse(file);
  }();
  return kExpected;
}

/// A case's tensors by name, in float64.
training::NamedTensors tensors_of(const json& test_case) {
  training::NamedTensors tensors;
  for (const json& tensor : test_case.at("tensors")) {
    const std::string name = tensor.at("name");
    const std::vector<int64_t> shape = tensor.at("shape");
    const auto values =
        test::tiny_values(test_case.at("name").get<std::string>() + ":" + name,
                          c10::multiply_integers(shape), tensor.at("scale"), tensor.at("offset"));
    tensors[name] = at::tensor(values).to(at::kDouble).view(shape);
  }
  return tensors;
}

Plan plan_of(const json& said) {
  Plan plan;
  for (const json& segment : said.at("segments")) {
    const std::string earlier = segment.at(3);
    plan.segments.push_back({{segment.at(0), segment.at(1)},
                             segment.at(2),
                             earlier == "all"        ? Earlier::all
                             : earlier == "previous" ? Earlier::previous
                                                     : Earlier::nothing,
                             segment.at(4)});
  }
  plan.kept = {said.at("kept").at(0), said.at("kept").at(1)};
  plan.memory_first = said.at("memory_first");
  return plan;
}

/// A backbone's weights, of which none has or asks for a gradient.
class FrozenWeights final : public nn::WeightVisitor {
 public:
  void tensor(const std::string& name, at::Tensor& tensor, std::vector<int64_t>) override {
    ++count;
    EXPECT_FALSE(tensor.requires_grad() || tensor.grad().defined()) << name;
  }
  void optional(const std::string& name, at::Tensor& of, std::vector<int64_t> shape) override {
    if (of.defined()) tensor(name, of, std::move(shape));
  }
  void tied(const std::string& name, at::Tensor& of, const at::Tensor&,
            std::vector<int64_t> shape) override {
    tensor(name, of, std::move(shape));
  }
  void fused(const std::vector<nn::FusedPart>& parts, nn::Linear& linear, int64_t, bool) override {
    tensor(parts.front().name, linear.weight, {});
    if (linear.bias.defined()) tensor(parts.front().name + ".bias", linear.bias, {});
  }
  void transposed(const std::string& name, nn::Linear& linear, int64_t, int64_t) override {
    tensor(name, linear.weight, {});
  }

  int64_t count = 0;
};

class CompressorsConformance : public ::testing::TestWithParam<std::string> {
 protected:
  CompressorsConformance() {
    EXPECT_TRUE(nn::configure_torch({}).ok());
    const auto directory = checkpoints::ModelDirectory::open(
        test::write_tiny_checkpoint(folder_, expected().at("backbone")));
    const auto packed = architectures::load_llama_weights(*directory);
    decoder_ = architectures::make_llama_decoder(
        *architectures::copy_to_device(**packed, at::kCPU, at::kDouble));
    parts_ = {expected().at("head"), expected().at("content"), expected().at("tail")};
    response_ = expected().at("response").get<std::vector<int32_t>>();
  }

  static const json& the_case(const std::string& name) {
    for (const json& one : expected().at("cases")) {
      if (one.at("name") == name) return one;
    }
    throw std::out_of_range(name);
  }

  std::unique_ptr<TrainedCompressor> compressor(const json& test_case) {
    training::NamedTensors tensors = tensors_of(test_case);
    const json& plan = test_case.at("plan");
    const double scale =
        expected().at("lora_alpha").get<double>() / expected().at("lora_rank").get<double>();
    if (test_case.at("name").get<std::string>().starts_with("autocompressor")) {
      return std::make_unique<Autocompressor>(
          autocompressor_form(), LoraTensors{std::move(tensors), scale}, decoder_,
          LoraReading{.window = 7, .memory = plan.at("summary")});
    }
    if (plan.contains("slots")) {
      return std::make_unique<Icae>(
          icae_form(), LoraTensors{std::move(tensors), scale}, decoder_,
          LoraReading{
              .window = plan.at("tokens"), .memory = plan.at("slots"), .begin = plan.at("begin")});
    }
    SelfcpForm form;
    form.rows = tensors.at(kTrainedEmbeddings).size(0);
    form.bias = tensors.contains(kConnectorBias);
    form.norm = tensors.contains(kConnectorNorm);
    return std::make_unique<Selfcp>(form, std::move(tensors), decoder_, SelfcpReading{});
  }
  /// As the case has it, or as the method reads.
  Plan plan(const json& test_case) {
    const json& said = test_case.at("plan");
    mode_ = said.value("mode", "answer");
    return said.contains("kept") ? plan_of(said) : *compressor(test_case)->plan(parts_);
  }

  /// Logits of the response's positions: [response, vocabulary].
  at::Tensor logits(const TrainedCompressor& compressor, const Plan& plan) {
    const CompressionTask task = {parts_, plan};
    const auto memory = compressor.compress({&task, 1});
    EXPECT_TRUE(memory.ok()) << memory.error().to_string();
    const std::vector<Piece>& rows = memory->front().memory;
    auto pieces = mode_ == "answer" ? read_pieces(compressor, task, rows)
                                    : compressor.assemble_text(task, rows, mode_ == "follows");
    pieces.push_back({{response_.begin(), response_.end() - 1}});
    nn::SequenceInput input = input_of(pieces, compressor.placeholder());
    if (const auto set = compressor.generator_adapters(); !set.linears.empty()) {
      input.adapters = *nn::bind_adapters(set, *decoder_);
    }
    const auto all = nn::sequence_logits(*decoder_, input);
    EXPECT_TRUE(all.ok()) << all.error().to_string();
    const auto count = static_cast<int64_t>(response_.size());
    return all->narrow(0, all->size(0) - count, count);
  }
  at::Tensor loss(const TrainedCompressor& compressor, const Plan& plan) {
    return at::cross_entropy_loss(logits(compressor, plan), at::tensor(response_).to(at::kLong));
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const nn::Decoder> decoder_;
  PromptParts parts_;
  std::vector<int32_t> response_;
  std::string mode_ = "answer";  ///< what is written behind the memory
};

TEST_P(CompressorsConformance, logits_and_loss_equal_the_reference) {
  const json& test_case = the_case(GetParam());
  const auto of = compressor(test_case);
  const at::Tensor found = logits(*of, plan(test_case));
  for (size_t i = 0; i < response_.size(); ++i) {
    const std::vector<double> row = test_case.at("logits").at(i);
    const at::Tensor own = found[static_cast<int64_t>(i)];
    for (size_t j = 0; j < row.size(); ++j) {
      ASSERT_NEAR(own[static_cast<int64_t>(j)].item<double>(), row[j], 1e-6) << i << ", " << j;
    }
  }
  EXPECT_NEAR(loss(*of, plan(test_case)).item<double>(), test_case.at("loss"), 1e-6);
}

TEST_P(CompressorsConformance, gradients_reach_what_is_trained_and_nothing_else) {
  const json& test_case = the_case(GetParam());
  for (const nn::Recompute recompute : {nn::Recompute::nothing, nn::Recompute::layers}) {
    const auto of = compressor(test_case);
    of->set_recompute(recompute);
    training::NamedTensors leaves = of->tensors();
    for (auto& [name, leaf] : leaves) leaf.requires_grad_();
    of->replace(leaves);
    loss(*of, plan(test_case)).backward();
    FrozenWeights frozen;
    decoder_->visit(frozen);
    EXPECT_GT(frozen.count, 4 * decoder_->shape().layers);
    for (const json& one : test_case.at("gradients")) {
      const at::Tensor& gradient = leaves.at(one.at("name")).grad();
      ASSERT_TRUE(gradient.defined()) << one;
      const double wanted = one.at("value");
      EXPECT_NEAR(gradient.view({-1})[one.at("index").get<int64_t>()].item<double>(), wanted,
                  1e-6 * std::max(1.0, std::abs(wanted)))
          << one;
    }
    for (const auto& [name, leaf] : leaves) {
      ASSERT_TRUE(leaf.grad().defined()) << name;
      EXPECT_GT(leaf.grad().abs().max().item<double>(), 0) << name;
    }
  }
}

TEST_F(CompressorsConformance, a_scaled_connector_makes_memory_as_large_as_embeddings_are) {
  const auto rms = [](const at::Tensor& values) {
    return values.to(at::kDouble).square().mean().sqrt().item<double>();
  };
  nn::SequenceInput input;
  for (int32_t id = 0; id < std::min<int64_t>(64, decoder_->shape().sequence.vocabulary); ++id) {
    input.ids.push_back(id);
  }
  const auto count = std::ssize(input.ids);
  const double wanted = rms(decoder_->embed(at::arange(count), at::arange(count)));
  const at::Tensor states = *nn::sequence_states(*decoder_, {&input, 1});
  SelfcpForm form;
  for (const auto& [bias, norm] : {std::pair(true, true), {true, false}, {false, false}}) {
    form.bias = bias;
    form.norm = norm;
    const auto memory = [&](bool scaled) {
      training::NamedTensors made = *new_selfcp(form, *decoder_, 7, scaled);
      for (auto& [name, tensor] : made) tensor = tensor.to(at::kDouble);
      const at::Tensor rows = at::linear(states, made[kConnectorWeight], made[kConnectorBias]);
      if (!norm) return rms(rows);
      return rms(at::layer_norm(rows, {rows.size(1)}, made[kConnectorNorm],
                                made[kConnectorNormBias], 1e-5));
    };
    EXPECT_NEAR(memory(true), wanted, 1e-6 * wanted) << connector_name(form);
    EXPECT_GT(std::abs(memory(false) - wanted), 0.1 * wanted) << connector_name(form);
  }
}

TEST_F(CompressorsConformance, a_text_is_learned_behind_summaries_of_which_the_first_are_held) {
  const json& test_case = the_case("autocompressor_text");
  const auto of = compressor(test_case);
  training::NamedTensors leaves = of->tensors();
  for (auto& [name, leaf] : leaves) leaf.requires_grad_();
  of->replace(leaves);
  LearnedText text{{{}, parts_.content, {}}, {}};
  const int64_t summary = test_case.at("plan").at("summary");
  int64_t first = 0;
  for (const json& half : test_case.at("plan").at("halves")) {
    const int64_t held = std::ssize(text.plan.segments);
    for (const int64_t count : half.get<std::vector<int64_t>>()) {
      text.plan.segments.push_back({{first, count}, summary, Earlier::all, true, held});
      first += count;
    }
  }
  const auto read = read_texts(*of, {&text, 1});
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  const auto adapters = *nn::bind_adapters(of->generator_adapters(), *decoder_);
  std::vector<at::Tensor> rows;
  std::vector<int64_t> labels;
  for (training::LabelledSequence sequence : read->sequences) {
    sequence.input.adapters = adapters;
    const at::Tensor logits = *nn::sequence_logits(*decoder_, sequence.input);
    for (int64_t at = 0; at < std::ssize(sequence.labels); ++at) {
      const int64_t label = sequence.labels[static_cast<size_t>(at)];
      if (label == nn::kNoLabel) continue;
      rows.push_back(logits[at]);
      labels.push_back(label);
    }
  }
  const std::vector<std::vector<double>> wanted = test_case.at("logits");
  ASSERT_EQ(rows.size(), wanted.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const at::Tensor row = at::tensor(wanted[i]).to(at::kDouble);
    EXPECT_LT((rows[i] - row).abs().max().item<double>(), 1e-6) << i;
  }
  const at::Tensor loss = at::cross_entropy_loss(at::stack(rows), at::tensor(labels));
  EXPECT_NEAR(loss.item<double>(), test_case.at("loss"), 1e-6);
  loss.backward();
  for (const json& one : test_case.at("gradients")) {
    const double value = one.at("value");
    EXPECT_NEAR(
        leaves.at(one.at("name")).grad().view({-1})[one.at("index").get<int64_t>()].item<double>(),
        value, 1e-6 * std::max(1.0, std::abs(value)))
        << one;
  }
}

TEST_P(CompressorsConformance, gradients_are_finite_differences_to_a_millionth) {
  const json& test_case = the_case(GetParam());
  const auto of = compressor(test_case);
  training::NamedTensors leaves = of->tensors();
  for (auto& [name, leaf] : leaves) leaf.requires_grad_();
  of->replace(leaves);
  loss(*of, plan(test_case)).backward();
  const c10::AutoGradMode without_gradients(false);
  for (const json& one : test_case.at("gradients")) {
    const at::Tensor& leaf = leaves.at(one.at("name"));
    const int64_t index = one.at("index");
    at::Tensor moved = leaf.view({-1})[index];
    const double value = moved.item<double>();
    constexpr double kStep = 1e-5;
    moved.fill_(value + kStep);
    const double above = loss(*of, plan(test_case)).item<double>();
    moved.fill_(value - kStep);
    const double below = loss(*of, plan(test_case)).item<double>();
    moved.fill_(value);
    EXPECT_NEAR(leaf.grad().view({-1})[index].item<double>(), (above - below) / (2 * kStep), 1e-6)
        << one;
  }
}

INSTANTIATE_TEST_SUITE_P(, CompressorsConformance,
                         ::testing::Values("latter", "former", "whole", "recurrent", "accumulating",
                                           "autocompressor", "icae", "icae_itself", "icae_follows"),
                         [](const auto& name) { return name.param; });

/// What follows of causality (section 3 of the specification).
class SelfcpProperties : public CompressorsConformance {
 protected:
  SelfcpProperties() : selfcp_(compressor(the_case("latter"))) {}

  std::vector<std::vector<Piece>> memory(std::span<const CompressionTask> tasks) {
    const auto made = selfcp_->compress(tasks);
    EXPECT_TRUE(made.ok()) << made.error().to_string();
    std::vector<std::vector<Piece>> all;
    for (const Compressed& one : *made) all.push_back(one.memory);
    return all;
  }

  std::unique_ptr<TrainedCompressor> selfcp_;
};

TEST_F(SelfcpProperties, fewer_memory_tokens_are_the_first_of_more) {
  const Plan more = {{{{5, 8}, 4}}, {0, 5}, false};
  const Plan fewer = {{{{5, 8}, 1}}, {0, 5}, false};
  const CompressionTask tasks[] = {{parts_, more}, {parts_, fewer}};
  const auto all = memory({tasks, 1}).front().front().rows;
  const auto first = memory({tasks + 1, 1}).front().front().rows;
  EXPECT_TRUE(at::allclose(all.narrow(0, 0, 1), first, 0, 1e-12));
  EXPECT_FALSE(at::allclose(all.narrow(0, 1, 1), first, 0, 1e-3));
}

TEST_F(SelfcpProperties, segments_in_a_batch_are_those_one_by_one) {
  const Plan plan = {{{{5, 4}, 2}, {{9, 4}, 3}}, {0, 5}, false};
  PromptParts other = parts_;
  other.content.resize(10);
  const Plan shorter = {{{{0, 6}, 1}}, {6, 4}, true};
  const CompressionTask tasks[] = {{parts_, plan}, {other, shorter}};
  const auto together = memory(tasks);
  const Plan first = {{plan.segments[0]}, {}, false};
  const Plan second = {{plan.segments[1]}, {}, false};
  const CompressionTask alone[] = {{parts_, first}, {parts_, second}, {other, shorter}};
  const at::Tensor found[] = {together[0][0].rows, together[0][1].rows, together[1][0].rows};
  for (size_t i = 0; i < 3; ++i) {
    const auto own = memory({alone + i, 1});
    EXPECT_TRUE(at::allclose(own.front().front().rows, found[i], 0, 1e-12)) << i;
  }
}

TEST_F(SelfcpProperties, what_was_read_is_counted) {
  const Plan plan = this->plan(the_case("latter"));
  const CompressionTask task = {parts_, plan};
  const auto made = selfcp_->compress({&task, 1});
  ASSERT_TRUE(made.ok());
  // A head of 3, the separator, 4 tokens and 2 tags; the connector's product for each of these.
  for (const ReadPass& pass : made->front().passes) {
    EXPECT_EQ(pass.tokens, 3 + 1 + 4 + 2);
    EXPECT_EQ(pass.headed, 0);
    EXPECT_EQ(pass.beside, 2 * 32 * 32);
  }
  EXPECT_EQ(made->front().passes.size(), 2U);
}

TEST_F(SelfcpProperties, without_memory_the_generator_reads_what_is_kept) {
  const Plan plan = split(13, {.window = 5, .side = Side::latter, .ratio = std::nullopt});
  const CompressionTask task = {parts_, plan};
  const auto made = memory({&task, 1});
  EXPECT_TRUE(made.front().empty());
  const nn::SequenceInput input = input_of(read_pieces(*selfcp_, task, made.front()), 4);
  EXPECT_TRUE(input.embedded.empty());
  EXPECT_EQ(input.ids, (std::vector<int32_t>{7, 21, 30, 15, 35, 17, 1, 27, 2, 11}));
}

TEST_F(SelfcpProperties, a_later_response_token_changes_no_earlier_logits) {
  const Plan plan = this->plan(the_case("latter"));
  const at::Tensor before = logits(*selfcp_, plan);
  response_[2] = 17;
  const at::Tensor after = logits(*selfcp_, plan);
  EXPECT_TRUE(at::equal(before.narrow(0, 0, 3), after.narrow(0, 0, 3)));
  EXPECT_FALSE(at::equal(before[3], after[3]));
}

TEST_F(SelfcpProperties, a_segment_beyond_the_window_is_an_error) {
  const Plan plan = {{{{0, 13}, 60}}, {}, true};
  const CompressionTask task = {parts_, plan};
  const auto memory = selfcp_->compress({&task, 1});
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(memory.error().message, ::testing::HasSubstr("window has 64"));
}

TEST_F(CompressorsConformance, autocompressor_gathers_summaries_from_segment_to_segment) {
  const json& test_case = the_case("autocompressor");
  const auto of = compressor(test_case);
  const Plan plan = *of->plan(parts_);
  ASSERT_EQ(plan.segments.size(), 2U);
  const CompressionTask task = {parts_, plan};
  const auto both = of->compress({&task, 1});
  ASSERT_TRUE(both.ok());
  // One segment is the body behind its tokens and the summary rows.
  const Plan first = {{plan.segments[0]}, {}, true};
  const CompressionTask alone = {parts_, first};
  const auto one = of->compress({&alone, 1});
  ASSERT_TRUE(one.ok());
  EXPECT_TRUE(at::allclose(one->front().memory[0].rows, both->front().memory[0].rows, 0, 1e-12));
  const at::Tensor table = of->tensors().at(autocompressor_form().table);
  nn::SequenceInput input{.ids = {parts_.content.begin(), parts_.content.begin() + 7}};
  input.embedded = {{7, table}};
  input.ids.resize(9);
  input.adapters = *nn::bind_adapters(of->generator_adapters(), *decoder_);
  const auto states = nn::sequence_states(*decoder_, {&input, 1});
  ASSERT_TRUE(states.ok());
  EXPECT_TRUE(at::allclose(states->narrow(0, 7, 2), one->front().memory[0].rows, 0, 1e-12));
  // What is read grows by the summary's rows with each segment.
  EXPECT_EQ(input_of(read_pieces(*of, task, both->front().memory), 0).ids.size(), 2 * 2 + 3 + 2U);
}

TEST_F(CompressorsConformance, icaes_generator_is_the_backbone_itself) {
  const auto of = compressor(the_case("icae"));
  const Plan plan = *of->plan(parts_);
  EXPECT_EQ(plan.segments.front().content, (Range{0, 9}));
  EXPECT_TRUE(of->generator_adapters().linears.empty());
  // With token embeddings in the place of slots and modes it reads tokens.
  const at::Tensor embeddings = decoder_->embed(at::tensor({5, 6, 7}), at::arange(3));
  const CompressionTask task = {parts_, plan};
  auto pieces = of->assemble(task, std::vector<Piece>{{{}, embeddings}});
  ASSERT_EQ(pieces.size(), 5U);
  pieces[1] = pieces[4] = {{}, decoder_->embed(at::tensor({9}), at::arange(1))};
  const auto rows = nn::sequence_logits(*decoder_, input_of(pieces, 0));
  const nn::SequenceInput tokens{.ids = {5, 6, 7, 9, 7, 21, 30, 2, 11, 9}};
  ASSERT_TRUE(rows.ok());
  EXPECT_TRUE(at::equal(*rows, *nn::sequence_logits(*decoder_, tokens)));
}

TEST_F(CompressorsConformance, llmlingua_keeps_what_surprises_the_backbone) {
  for (const json& one : expected().at("lingua_by_backbone")) {
    ASSERT_GT(one.at("margin").get<double>(), 1e-3);  // of the reference's choices
    const Lingua lingua(decoder_, {.window = one.at("window"), .begin = one.at("begin")});
    const Plan plan = {{{{0, 13}, one.at("target")}}, {}, true};
    const CompressionTask task = {parts_, plan};
    const auto made = lingua.compress({&task, 1});
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_EQ(made->front().memory.front().ids, one.at("kept").get<std::vector<int32_t>>());
    int64_t headed = 0;
    for (const ReadPass& pass : made->front().passes) headed += pass.headed;
    EXPECT_EQ(headed, 13);
  }
}

TEST_F(CompressorsConformance, llmlingua_as_released_reads_behind_a_cache_that_forgets) {
  std::vector<int64_t> put_aside;
  for (const json& one : expected().at("released_by_backbone")) {
    ASSERT_GT(one.at("margin").get<double>(), 1e-3);
    put_aside.push_back(one.at("front"));
    const Lingua lingua(decoder_,
                        {.released = true, .window = one.at("window"), .begin = one.at("begin")});
    PromptParts parts;
    parts.content = one.at("ids").get<std::vector<int32_t>>();
    const Plan plan = {
        {{{0, static_cast<int64_t>(parts.content.size())}, one.at("target")}}, {}, true};
    const CompressionTask task = {parts, plan};
    const auto made = lingua.compress({&task, 1});
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_EQ(made->front().memory.front().ids, one.at("kept").get<std::vector<int32_t>>());
  }
  ASSERT_EQ(put_aside.size(), 2U);
  EXPECT_EQ(put_aside[0], 0);
  EXPECT_GT(put_aside[1], 0);
}

}  // namespace
}  // namespace qfs::compressors
