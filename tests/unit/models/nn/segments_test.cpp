// Decoders that read in segments with a compressive memory: gradients, rows over caches, and what
// is refused.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "methods/models/architectures/gpt2/gpt2.h"
#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/steps/segment_model.h"
#include "methods/models/nn/token_loss.h"
#include "tests/support/tiny_checkpoint.h"

namespace qfs::nn {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Products of attention alone, in float64: what leaves the window is there and does not change.

struct Varied {
  at::Tensor queries, rotated, keys, turned, values, beta, weight, bias;

  std::vector<at::Tensor*> all() {
    return {&queries, &rotated, &keys, &turned, &values, &beta, &weight, &bias};
  }
};

at::Tensor attended(const Varied& of, const InfiniOptions& options, SegmentState state) {
  const InfiniMemory memory{options, 2, {{of.beta, of.weight, of.bias}}};
  return attend_segment(memory, 0, {{of.queries, of.keys, of.values}, of.rotated, of.turned},
                        state);
}

TEST(SegmentGradientsTest, are_those_of_finite_differences) {
  at::manual_seed(7);
  const auto random = [](std::vector<int64_t> sizes) {
    return at::randn(sizes, at::TensorOptions(at::kDouble));
  };
  for (const MemoryRule rule : {MemoryRule::linear, MemoryRule::delta}) {
    for (const bool query_focused : {false, true}) {
      for (const int64_t tokens : {5, 3}) {
        const InfiniOptions options{5, rule, query_focused};
        Varied of{random({tokens, 4, 6}),
                  random({tokens, 4, 6}),
                  random({tokens, 2, 6}),
                  random({tokens, 2, 6}),
                  random({tokens, 2, 6}),
                  random({4}),
                  {},
                  {}};
        if (query_focused) {
          of.weight = random({6});
          of.bias = random({1});
        }
        SegmentState state;
        if (query_focused) state.asking = random({4, 6});
        for (int64_t i = 0; i < 2; ++i) {  // so that the second is written where there is one
          const Segment before = {{random({5, 4, 6}), random({5, 2, 6}), random({5, 2, 6})},
                                  random({5, 4, 6}),
                                  random({5, 2, 6})};
          attend_segment({options, 2, {{of.beta, of.weight, of.bias}}}, 0, before, state);
        }
        const at::Tensor probe = random({tokens, 24});
        for (at::Tensor* one : of.all()) {
          if (one->defined()) one->requires_grad_();
        }
        (attended(of, options, state) * probe).sum().backward();
        for (at::Tensor* one : of.all()) {
          if (!one->defined()) continue;
          // Keys that are not rotated go into the memory alone, which no gradient enters.
          if (one == &of.keys) {
            EXPECT_FALSE(one->grad().defined());
            continue;
          }
          ASSERT_TRUE(one->grad().defined());
          const c10::AutoGradMode without_gradients(false);
          double largest = 0;
          for (int64_t i = 0; i < one->numel(); i += 5) {
            at::Tensor at = one->view({-1})[i];
            const double value = at.item<double>();
            constexpr double kStep = 1e-6;
            const auto loss = [&](double moved) {
              at.fill_(moved);
              return (attended(of, options, state) * probe).sum().item<double>();
            };
            const double slope = (loss(value + kStep) - loss(value - kStep)) / (2 * kStep);
            at.fill_(value);
            const double found = one->grad().view({-1})[i].item<double>();
            EXPECT_NEAR(found, slope, 1e-6 * std::max(1.0, std::abs(slope)));
            largest = std::max(largest, std::abs(slope));
          }
          EXPECT_GT(largest, 1e-4);
        }
      }
    }
  }
}

class SegmentsTest : public ::testing::Test {
 protected:
  SegmentsTest() { EXPECT_TRUE(configure_torch({}).ok()); }

  checkpoints::ModelDirectory directory(const std::string& kind, size_t index,
                                        int64_t context = 64) {
    std::ifstream file("tests/conformance/models/architectures/tiny_" + kind + "_expected.json");
    json one = json::parse(file).at("cases").at(index);
    if (kind == "llama") one["config"]["max_position_embeddings"] = context;
    auto opened = checkpoints::ModelDirectory::open(qfs::test::write_tiny_checkpoint(folder_, one));
    EXPECT_TRUE(opened.ok());
    return *std::move(opened);
  }
  /// With grouped keys.
  std::shared_ptr<const Decoder> llama(int64_t context = 64) {
    const auto weights = architectures::load_llama_weights(directory("llama", 2, context));
    EXPECT_TRUE(weights.ok());
    return architectures::make_llama_decoder(
        *architectures::copy_to_device(**weights, at::kCPU, at::kFloat));
  }
  std::shared_ptr<const Decoder> gpt2() {
    return *architectures::load_gpt2_decoder(directory("gpt2", 0));
  }

  static std::vector<InfiniScalars> scalars_for(const Decoder& decoder, bool query_focused) {
    at::manual_seed(13);
    std::vector<InfiniScalars> layers;
    for (int64_t i = 0; i < decoder.shape().layers; ++i) {
      InfiniScalars scalars{at::randn({decoder.shape().heads}), {}, {}};
      if (query_focused) {
        scalars.weight = at::randn({decoder.shape().head_dim});
        scalars.bias = at::randn({1});
      }
      layers.push_back(std::move(scalars));
    }
    return layers;
  }
  static SequenceInput input_for(const Decoder& decoder, int64_t segment, int64_t tokens,
                                 int64_t salt = 0, bool query_focused = true, int64_t kept = 0) {
    auto memory = bind_memory({.segment = segment, .query_focused = query_focused, .kept = kept},
                              scalars_for(decoder, query_focused), decoder);
    EXPECT_TRUE(memory.ok()) << memory.error().to_string();
    SequenceInput input{.query = {1, 2}, .memory = *memory};
    for (int64_t i = 0; i < tokens; ++i) {
      input.ids.push_back(static_cast<int32_t>((7 * i * i + 3 * i + salt) % 37));
    }
    return input;
  }

  qfs::test::TemporaryFolder folder_;
};

TEST_F(SegmentsTest, every_policy_of_memory_gives_the_gradients_of_plain_autograd) {
  for (const bool is_llama : {true, false}) {
    const auto decoder = is_llama ? llama() : gpt2();
    SequenceInput input = input_for(*decoder, 6, 21);
    std::vector<int64_t> labels(21, kNoLabel);
    for (size_t i = 14; i < 21; ++i) labels[i] = static_cast<int64_t>(i);  // in two segments
    at::manual_seed(3);
    LowRankByName layers;
    for (const AdapterTarget& target : adapter_targets(*decoder)) {
      for (const FusedPart& layer : target.layers) {
        layers[layer.name] = {(at::randn({2, target.inputs}) * 0.2).set_requires_grad(true),
                              (at::randn({layer.outputs, 2}) * 0.2).set_requires_grad(true), 0.5};
      }
    }
    std::vector<InfiniScalars> scalars = scalars_for(*decoder, true);
    std::vector<at::Tensor> leaves;
    for (InfiniScalars& one : scalars) {
      for (at::Tensor* tensor : {&one.beta, &one.weight, &one.bias}) {
        leaves.push_back(tensor->set_requires_grad(true));
      }
    }
    for (auto& [name, added] : layers) leaves.insert(leaves.end(), {added.down, added.up});
    const auto gradients = [&](Recompute recompute, int64_t from) {
      input.adapters = *bind_adapters({.linears = layers}, *decoder);
      input.memory = *bind_memory(input.memory->options, scalars, *decoder);
      const auto states =
          sequence_states(*decoder, {&input, 1}, recompute, {.gradients_from = {from}});
      EXPECT_TRUE(states.ok()) << states.error().to_string();
      const auto loss = summed_token_loss(decoder->head(), *states, labels);
      EXPECT_TRUE(loss.ok()) << loss.error().to_string();
      loss->backward();
      std::vector<at::Tensor> found = {loss->detach()};
      for (at::Tensor& leaf : leaves) {
        EXPECT_TRUE(leaf.grad().defined());
        found.push_back(leaf.grad().clone());
        leaf.mutable_grad() = at::Tensor();
      }
      return found;
    };
    const auto plain = gradients(Recompute::nothing, 0);
    // The label of position 14 is the first: segments 0 and 1 end before it.
    for (const auto& [recompute, from] :
         {std::pair(Recompute::layers, int64_t{0}), std::pair(Recompute::nothing, int64_t{14}),
          std::pair(Recompute::layers, int64_t{14})}) {
      const auto other = gradients(recompute, from);
      for (size_t i = 0; i < plain.size(); ++i) {
        EXPECT_GT(plain[i].abs().max().item<double>(), 1e-7) << i;
        EXPECT_TRUE(at::allclose(other[i], plain[i], 1e-4, 1e-7)) << i;
      }
    }
  }
}

TEST_F(SegmentsTest, no_gradient_goes_from_a_segment_into_an_earlier_one) {
  const auto decoder = llama();
  SequenceInput input = input_for(*decoder, 6, 18);
  // The embeddings' rows of tokens that stand in one segment each.
  for (size_t i = 0; i < 18; ++i) input.ids[i] = static_cast<int32_t>(i < 6 ? i : 10 + i);
  class Embedding final : public WeightVisitor {
   public:
    void tensor(const std::string& name, at::Tensor& tensor, std::vector<int64_t>) override {
      if (name.ends_with("embed_tokens.weight")) found = tensor;
    }
    void optional(const std::string&, at::Tensor&, std::vector<int64_t>) override {}
    void tied(const std::string&, at::Tensor&, const at::Tensor&, std::vector<int64_t>) override {}
    void fused(const std::vector<FusedPart>&, Linear&, int64_t, bool) override {}
    void transposed(const std::string&, Linear&, int64_t, int64_t) override {}
    at::Tensor found;
  } embedding;
  decoder->visit(embedding);
  embedding.found.requires_grad_();
  const auto states = sequence_states(*decoder, {&input, 1});
  ASSERT_TRUE(states.ok());
  states->narrow(0, 12, 6).pow(2).sum().backward();
  const at::Tensor by_token = embedding.found.grad().abs().sum(1);
  EXPECT_EQ(by_token.narrow(0, 0, 6).max().item<double>(), 0);   // segment 0
  EXPECT_EQ(by_token.narrow(0, 16, 6).max().item<double>(), 0);  // segment 1
  EXPECT_GT(by_token.narrow(0, 22, 6).min().item<double>(), 0);  // its own
}

/// The logits of the last `steps` tokens of an input, each as a step of a row behind the others.
at::Tensor stepped(SegmentModel& model, int64_t row, const SequenceInput& input, int64_t steps) {
  SequenceInput prompt = input;
  prompt.stepped = input.stepped - steps;  // the rest of them
  const auto length = static_cast<int64_t>(input.ids.size()) - steps;
  prompt.ids.resize(static_cast<size_t>(length));
  const at::Tensor logits = at::empty({model.shape().vocabulary});
  const std::span<float> out(logits.mutable_data_ptr<float>(), static_cast<size_t>(logits.numel()));
  const Status read = model.prefill(row, prompt, out);
  EXPECT_TRUE(read.ok()) << read.error().to_string();
  std::vector<at::Tensor> all;
  for (int64_t i = length; i < length + steps; ++i) {
    EXPECT_TRUE(model.decode({&row, 1}, {&input.ids[static_cast<size_t>(i)], 1}, out).ok());
    all.push_back(logits.clone());
  }
  return at::stack(all);
}

TEST_F(SegmentsTest, rows_over_caches_give_the_logits_of_the_whole_sequence) {
  for (const bool is_llama : {true, false}) {
    const auto decoder = is_llama ? llama() : gpt2();
    for (const auto& [query_focused, kept] :
         {std::pair(true, 0), std::pair(false, 0), std::pair(true, 2)}) {
      for (const int64_t prompt : {5, 6, 7, 15, 18}) {  // below, at and beyond a segment of 6
        constexpr int64_t kSteps = 9;
        SequenceInput input = input_for(*decoder, 6, prompt + kSteps, 0, query_focused, kept);
        input.stepped = kSteps + (prompt > 15 ? 7 : 0);
        SegmentModel model(decoder, input.memory);
        ASSERT_TRUE(model.begin(2, prompt + kSteps).ok());
        const auto whole = sequence_logits(*decoder, input);
        ASSERT_TRUE(whole.ok()) << whole.error().to_string();
        EXPECT_LT((stepped(model, 1, input, kSteps) - whole->narrow(0, prompt, kSteps))
                      .abs()
                      .max()
                      .item<double>(),
                  2e-5);
      }
    }
  }
}

TEST(SegmentAttentionTest, kept_tokens_are_attended_to_by_all_and_never_remembered) {
  at::manual_seed(5);
  const auto random = [](std::vector<int64_t> sizes) {
    return at::randn(sizes, at::TensorOptions(at::kDouble));
  };
  constexpr int64_t kTokens = 11;  // segments of 4, 4 and 3
  const InfiniOptions options{.segment = 4, .kept = 2};
  const at::Tensor queries = random({kTokens, 1, 6});
  const at::Tensor keys = random({kTokens, 1, 6});
  const at::Tensor values = random({kTokens, 1, 6});
  const at::Tensor unread = at::full({1}, -std::numeric_limits<double>::infinity(), at::kDouble);
  SegmentState state;
  std::vector<at::Tensor> parts;
  for (int64_t first = 0; first < kTokens; first += 4) {
    const int64_t count = std::min<int64_t>(4, kTokens - first);
    const auto part = [&](const at::Tensor& of) { return of.narrow(0, first, count); };
    parts.push_back(attend_segment(
        {options, 1, {{unread, {}, {}}}}, 0,
        {{part(queries), part(keys), part(values)}, part(queries), part(keys)}, state));
  }
  const at::Tensor attended = at::cat(parts);
  for (int64_t i = 0; i < kTokens; ++i) {
    // A whole segment begins a window; the rest of 3 fills it with what is before.
    const int64_t oldest = i < 4 ? 0 : i < 8 ? 4 : kTokens - 4;
    std::vector<int64_t> seen;
    for (int64_t j = 0; j <= i; ++j) {
      if (j < 2 || j >= oldest) seen.push_back(j);
    }
    const at::Tensor places = at::tensor(seen);
    const at::Tensor scores = keys.select(1, 0).index_select(0, places).mv(queries[i][0]);
    const at::Tensor expected =
        values.select(1, 0).index_select(0, places).t().mv((scores / std::sqrt(6.0)).softmax(0));
    EXPECT_TRUE(at::allclose(attended[i], expected, 1e-10, 1e-12)) << i;
  }
  EXPECT_EQ(state.held(), 6);
  EXPECT_TRUE(at::equal(state.keys.narrow(0, 0, 2), keys.narrow(0, 0, 2)));
  const at::Tensor forgotten = keys.narrow(0, 2, kTokens - 6).transpose(0, 1);
  EXPECT_TRUE(at::allclose(state.memory.norm, sigma(forgotten).sum(1)));
}

TEST_F(SegmentsTest, later_segments_may_have_adapters_of_their_own) {
  const auto decoder = llama();
  at::manual_seed(5);
  const auto adapters = [&] {
    LowRankByName layers;
    for (const AdapterTarget& target : adapter_targets(*decoder)) {
      for (const FusedPart& layer : target.layers) {
        layers[layer.name] = {at::randn({2, target.inputs}) * 0.2,
                              at::randn({layer.outputs, 2}) * 0.2, 0.5};
      }
    }
    return *bind_adapters({.linears = std::move(layers)}, *decoder);
  };
  const auto a = adapters();
  const auto b = adapters();
  SequenceInput input = input_for(*decoder, 6, 15);  // of three segments
  const auto logits = [&](std::vector<std::shared_ptr<const Adapters>> later) {
    input.adapters = a;
    input.later_adapters = std::move(later);
    return *sequence_logits(*decoder, input);
  };
  const at::Tensor same = logits({});
  EXPECT_TRUE(at::equal(logits({a, a}), same));
  const auto differ = [](const at::Tensor& one, const at::Tensor& other, int64_t segment) {
    const int64_t count = segment == 2 ? 3 : 6;
    return !at::equal(one.narrow(0, 6 * segment, count), other.narrow(0, 6 * segment, count));
  };
  const at::Tensor second = logits({b, a});
  EXPECT_FALSE(differ(second, same, 0));
  EXPECT_TRUE(differ(second, same, 1));
  EXPECT_TRUE(differ(second, same, 2)) << "it attends to what the second left";
  const at::Tensor third = logits({a, b});
  EXPECT_FALSE(differ(third, same, 1));
  EXPECT_TRUE(differ(third, same, 2));
  input.later_adapters = {a};
  EXPECT_THAT(sequence_logits(*decoder, input).error().message,
              HasSubstr("adapters of 1 segments behind the first; there are 2"));
  input.later_adapters = {};
  input.stepped = 15;
  EXPECT_THAT(sequence_logits(*decoder, input).error().message,
              HasSubstr("15 of 15 tokens one by one; expected fewer"));
}

TEST_F(SegmentsTest, the_stream_that_enters_a_layer_is_float32_whatever_the_model_is_in) {
  const auto decoder = llama();
  const SequenceInput input = input_for(*decoder, 6, 4, 0, false);
  const auto rounded = decoder->copy_to(at::kCPU, at::kBFloat16);
  ASSERT_TRUE(rounded.ok());
  SegmentModel model(*rounded, input.memory);
  const auto stream = model.stream_before(1, {.ids = input.ids});
  ASSERT_TRUE(stream.ok()) << stream.error().to_string();
  EXPECT_EQ(stream->scalar_type(), at::kFloat);
  const auto exact = stream_before(*decoder, {.ids = input.ids}, 1);
  EXPECT_TRUE(at::allclose(*stream, *exact, 0.05, 0.05));
}

TEST_F(SegmentsTest, a_row_goes_on_from_another_with_its_window_and_memory) {
  const auto decoder = llama();
  const SequenceInput one = input_for(*decoder, 6, 15);
  const SequenceInput other = input_for(*decoder, 6, 20, 5);
  SegmentModel model(decoder, one.memory);
  ASSERT_TRUE(model.begin(3, 30).ok());
  const auto width = static_cast<size_t>(model.shape().vocabulary);
  std::vector<float> logits(width);
  ASSERT_TRUE(model.prefill(0, one, logits).ok());
  ASSERT_TRUE(model.prefill(1, other, logits).ok());
  std::vector<float> both(2 * width);
  const std::vector<int64_t> rows = {0, 1};
  const std::vector<int32_t> tokens = {4, 9};
  ASSERT_TRUE(model.decode(rows, tokens, both).ok());
  // Places change: row 1 becomes what row 0 was, and row 2 what row 1 was.
  const std::vector<int64_t> to = {1, 2};
  const std::vector<int64_t> from = {0, 1};
  ASSERT_TRUE(model.reassign(to, from).ok());
  const std::vector<int32_t> next = {11, 11};
  ASSERT_TRUE(model.decode(to, next, both).ok());
  const auto expect = [&](SequenceInput input, int32_t token, size_t place) {
    input.ids.insert(input.ids.end(), {token, 11});
    input.stepped = 2;
    const auto whole = sequence_logits(*decoder, input);
    const at::Tensor found = at::tensor(at::ArrayRef(both.data() + place * width, width));
    const auto last = static_cast<int64_t>(input.ids.size()) - 1;
    EXPECT_LT((found - whole->select(0, last)).abs().max().item<double>(), 2e-5);
  };
  expect(one, 4, 0);
  expect(other, 9, 1);
  // A row alone has the bits that it has beside another.
  const int64_t row = 0;
  std::vector<float> alone(width);
  ASSERT_TRUE(model.decode({&row, 1}, {next.data(), 1}, alone).ok());
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), both.begin()));
}

TEST_F(SegmentsTest, rows_are_added_by_sequences_that_a_window_holds) {
  const auto decoder = llama();
  const SequenceInput longer = input_for(*decoder, 12, 30);
  SequenceInput shorter = longer;
  shorter.ids.resize(10);
  SegmentModel model(decoder, longer.memory);
  std::vector<float> logits(static_cast<size_t>(model.shape().vocabulary));
  ASSERT_TRUE(model.begin(1, 32).ok());
  ASSERT_TRUE(model.prefill(0, longer, logits).ok());
  ASSERT_TRUE(model.begin(3, 12).ok());
  for (int64_t row = 0; row < 3; ++row) ASSERT_TRUE(model.prefill(row, shorter, logits).ok());
  const int64_t to = 2;
  const int64_t from = 1;
  EXPECT_TRUE(model.reassign({&to, 1}, {&from, 1}).ok());
  ASSERT_TRUE(model.begin(3, 32).ok());
  for (int64_t row = 0; row < 3; ++row) ASSERT_TRUE(model.prefill(row, longer, logits).ok());
}

TEST_F(SegmentsTest, state_is_constant_beyond_the_window_while_that_of_full_attention_grows) {
  constexpr int64_t kSegment = 64;
  const auto decoder = llama(int64_t{1} << 16);
  const SequenceInput all = input_for(*decoder, kSegment, 32768);
  const DecoderShape& c = decoder->shape();
  int64_t bytes = 0;
  for (int64_t tokens = 1024; tokens <= 32768; tokens *= 2) {
    SegmentModel model(decoder, all.memory);
    ASSERT_TRUE(model.begin(1, tokens).ok());
    SequenceInput input = all;
    input.ids.resize(static_cast<size_t>(tokens) - 1);
    std::vector<float> logits(static_cast<size_t>(c.sequence.vocabulary));
    ASSERT_TRUE(model.prefill(0, input, logits).ok());
    const int64_t row = 0;
    const int32_t token = 3;
    ASSERT_TRUE(model.decode({&row, 1}, {&token, 1}, logits).ok());
    if (bytes == 0) bytes = model.state_bytes();
    EXPECT_EQ(model.state_bytes(), bytes);
    KeyValueCache full;
    ASSERT_TRUE(full.make_room({c.layers, c.kv_heads, c.head_dim}, at::kFloat, 1, tokens).ok());
    EXPECT_EQ(full.keys.nbytes() + full.values.nbytes(),
              static_cast<size_t>(2 * c.layers * c.kv_heads * c.head_dim * tokens * 4));
  }
  // Windows of keys, rotated and not, and values; M, z, M_query and the mean query.
  const int64_t window = 3 * c.kv_heads * c.head_dim * kSegment;
  const int64_t memory = (c.kv_heads + c.heads) * c.head_dim * (c.head_dim + 1);
  EXPECT_EQ(bytes, 4 * c.layers * (window + memory));
}

TEST_F(SegmentsTest, what_does_not_fit_is_refused) {
  const auto decoder = llama();
  const auto refusal = [](const auto& result) {
    return result.ok() ? std::string("fits") : result.error().to_string();
  };
  SequenceInput input = input_for(*decoder, 6, 20);
  EXPECT_EQ(refusal(sequence_states(*decoder, {&input, 1})), "fits");
  input.query = {4, 3};
  EXPECT_THAT(refusal(sequence_states(*decoder, {&input, 1})),
              AllOf(HasSubstr("a query of 3 tokens at 4"), HasSubstr("first segment of 6")));
  SegmentModel model(decoder, input.memory);
  ASSERT_TRUE(model.begin(1, 30).ok());
  std::vector<float> logits(static_cast<size_t>(model.shape().vocabulary));
  EXPECT_THAT(refusal(model.prefill(0, input, logits)), HasSubstr("first segment of 6"));
  input.query = {};
  EXPECT_THAT(refusal(model.prefill(0, input, logits)), HasSubstr("a query of 0 tokens"));
  EXPECT_THAT(refusal(model.begin(1, 65)), HasSubstr("the backbone's window has 64"));

  const auto bound = [&](const InfiniOptions& options, std::vector<InfiniScalars> layers) {
    return refusal(bind_memory(options, std::move(layers), *decoder));
  };
  const auto fine = scalars_for(*decoder, true);
  EXPECT_THAT(bound({.segment = 65, .query_focused = true}, fine),
              AllOf(HasSubstr("segments of 65 tokens"), HasSubstr("window has 64")));
  EXPECT_THAT(bound({.segment = 60, .query_focused = true, .kept = 5}, fine),
              HasSubstr("segments of 60 tokens behind 5 kept ones; the backbone's window has 64"));
  EXPECT_THAT(bound({.segment = 6, .query_focused = true, .kept = 6}, fine),
              HasSubstr("6 kept tokens of segments of 6"));
  EXPECT_THAT(bound({.segment = 6, .query_focused = true}, {fine.front()}),
              AllOf(HasSubstr("a memory of 1 layers"), HasSubstr("has 2")));
  EXPECT_THAT(bound({.segment = 6}, fine), HasSubstr("layer 0 has w_g or b_g"));
  EXPECT_THAT(bound({.segment = 6, .query_focused = true}, scalars_for(*decoder, false)),
              HasSubstr("layer 0 has no w_g; expected 12 values"));
}

}  // namespace
}  // namespace qfs::nn
