// What a compressive memory is, stated by equations that hold without it.
#include "methods/models/nn/infini_memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "methods/models/kernels/memory_kernels.h"
#include "methods/models/nn/segment_attention.h"

namespace qfs::nn {
namespace {

constexpr int64_t kHeads = 4;
constexpr int64_t kKeyHeads = 2;
constexpr int64_t kDim = 6;

class InfiniMemoryTest : public ::testing::TestWithParam<MemoryRule> {
 protected:
  InfiniMemoryTest() { at::manual_seed(5); }

  static at::Tensor states(int64_t heads, int64_t tokens) {
    return at::randn({heads, tokens, kDim});
  }
  static at::Tensor for_heads(const at::Tensor& shared) {
    return shared.repeat_interleave(kHeads / kKeyHeads, 0);
  }
  /// Attention to all keys at once with sigma(q) sigma(k) in place of exponentials.
  static at::Tensor kernel_attention(const at::Tensor& queries, const at::Tensor& keys,
                                     const at::Tensor& values, const at::Tensor& weights) {
    const at::Tensor scores = at::bmm(sigma(queries), for_heads(sigma(keys)).transpose(1, 2));
    return at::bmm(scores * weights.unsqueeze(1), for_heads(values)) / scores.sum(2, true);
  }
  static void expect_near(const at::Tensor& a, const at::Tensor& b) {
    ASSERT_EQ(a.sizes(), b.sizes());
    EXPECT_LT((a - b).abs().max().item<double>(), 1e-5);
  }
};

TEST_F(InfiniMemoryTest, sigma_is_elu_and_one_without_cancellation) {
  const at::Tensor x = at::tensor({-30.0F, -1.0F, 0.0F, 2.5F}).set_requires_grad(true);
  const at::Tensor y = sigma(x);
  EXPECT_FLOAT_EQ(y[0].item<float>(), std::exp(-30.0F));
  EXPECT_FLOAT_EQ(y[1].item<float>(), std::exp(-1.0F));
  EXPECT_FLOAT_EQ(y[2].item<float>(), 1);
  EXPECT_FLOAT_EQ(y[3].item<float>(), 3.5);
  y.sum().backward();
  EXPECT_TRUE(at::allclose(x.grad(), at::tensor({std::exp(-30.0F), std::exp(-1.0F), 1.0F, 1.0F})));
}

TEST_F(InfiniMemoryTest, the_linear_rule_is_kernel_attention_over_all_that_was_written) {
  const at::Tensor keys = states(kKeyHeads, 11);
  const at::Tensor values = states(kKeyHeads, 11);
  const at::Tensor matters = at::rand({kHeads, 11});
  LayerMemory memory;
  for (const auto& [first, count] : {std::pair(0, 4), std::pair(4, 1), std::pair(5, 6)}) {
    memory = remembered(MemoryRule::linear, memory, keys.narrow(1, first, count),
                        values.narrow(1, first, count), matters.narrow(1, first, count));
  }
  const at::Tensor queries = states(kHeads, 3);
  const Retrieved found = retrieved(memory, queries);
  expect_near(found.all, kernel_attention(queries, keys, values, at::ones_like(matters)));
  expect_near(found.asked, kernel_attention(queries, keys, values, matters));
}

TEST_P(InfiniMemoryTest, a_constant_relevance_is_a_factor) {
  const at::Tensor queries = states(kHeads, 3);
  for (const double factor : {1.0, 0.3}) {
    LayerMemory memory;
    for (int64_t i = 0; i < 3; ++i) {
      memory = remembered(GetParam(), memory, states(kKeyHeads, 4), states(kKeyHeads, 4),
                          at::full({kHeads, 4}, factor));
    }
    const Retrieved found = retrieved(memory, queries);
    expect_near(found.asked, factor * found.all);
    if (factor != 1) continue;
    // What decides between two that are equal does not matter.
    expect_near(recalled({{}, at::randn({kDim}), at::randn({1})}, found), found.all);
  }
}
INSTANTIATE_TEST_SUITE_P(Rules, InfiniMemoryTest,
                         ::testing::Values(MemoryRule::linear, MemoryRule::delta));

TEST_F(InfiniMemoryTest, what_is_written_twice_is_read_once_or_half) {
  const at::Tensor key = states(kKeyHeads, 1);
  const at::Tensor value = states(kKeyHeads, 1);
  const at::Tensor query = states(kHeads, 1);
  for (const MemoryRule rule : {MemoryRule::linear, MemoryRule::delta}) {
    const LayerMemory once = remembered(rule, {}, key, value, {});
    expect_near(retrieved(once, query).all, for_heads(value));
    const LayerMemory twice = remembered(rule, once, key, value, {});
    expect_near(twice.norm, 2 * once.norm);
    // The delta rule adds nothing to the matrix, while the normalizer doubles.
    const bool delta = rule == MemoryRule::delta;
    expect_near(twice.all, delta ? once.all : 2 * once.all);
    expect_near(retrieved(twice, query).all, for_heads(value) * (delta ? 0.5 : 1));
  }
}

TEST_F(InfiniMemoryTest, relevance_is_the_logistic_of_a_scaled_product) {
  const at::Tensor asking = at::randn({kHeads, kDim});
  const at::Tensor keys = states(kKeyHeads, 5);
  const at::Tensor found = relevance(asking, keys, 3);
  const at::Tensor product = asking[3].dot(keys[1][2]) / 3;
  EXPECT_NEAR(found[3][2].item<double>(), product.sigmoid().item<double>(), 1e-6);
}

TEST_F(InfiniMemoryTest, the_share_of_the_memory_is_the_logistic_of_beta) {
  const at::Tensor past = states(kHeads, 2);
  const at::Tensor local = states(kHeads, 2);
  expect_near(merged({at::full({kHeads}, -1e4), {}, {}}, past, local), local);
  expect_near(merged({at::full({kHeads}, 1e4), {}, {}}, past, local), past);
  expect_near(merged({at::zeros({kHeads}), {}, {}}, past, local), (past + local) / 2);
}

TEST_F(InfiniMemoryTest, values_beyond_the_bound_are_cut) {
  const at::Tensor key = at::ones({1, 1, 2});
  const LayerMemory memory = remembered(MemoryRule::linear, {}, key, at::full({1, 1, 2}, 1e6), {});
  EXPECT_EQ(memory.all.max().item<double>(), 65500);
}

/// Projections of tokens; rotations play no part here.
Segment segment_of(int64_t tokens) {
  const Projections plain = {at::randn({tokens, kHeads, kDim}),
                             at::randn({tokens, kKeyHeads, kDim}),
                             at::randn({tokens, kKeyHeads, kDim})};
  return {plain, plain.queries, plain.keys};
}

InfiniMemory memory_of(int64_t segment, double beta, bool query_focused = false) {
  InfiniMemory memory;
  memory.options.segment = segment;
  memory.options.rule = MemoryRule::linear;
  memory.options.query_focused = query_focused;
  memory.layers = {{at::full({kHeads}, beta), at::zeros({kDim}), {}}};
  if (!query_focused) memory.layers.front().weight = at::Tensor();
  return memory;
}

Segment part_of(const Segment& all, int64_t first, int64_t count) {
  const auto of = [&](const at::Tensor& states) { return states.narrow(0, first, count); };
  return {{of(all.plain.queries), of(all.plain.keys), of(all.plain.values)},
          of(all.queries),
          of(all.keys)};
}

TEST_F(InfiniMemoryTest, the_normalizer_is_the_sum_over_what_has_left_the_window) {
  constexpr int64_t kSegment = 4;
  const InfiniMemory memory = memory_of(kSegment, 0);
  const Segment all = segment_of(11);
  SegmentState state;
  for (int64_t i = 0; i < 11; ++i) {
    attend_segment(memory, 0, part_of(all, i, 1), state);
    EXPECT_EQ(state.held(), std::min(i + 1, kSegment));
    const int64_t left = std::max<int64_t>(0, i + 1 - kSegment);
    ASSERT_EQ(state.memory.empty(), left == 0);
    if (left == 0) continue;
    expect_near(state.memory.norm, sigma(all.plain.keys.narrow(0, 0, left)).sum(0));
  }
}

TEST_F(InfiniMemoryTest, without_the_memorys_share_it_is_attention_in_blocks_or_a_sliding_window) {
  const Segment all = segment_of(10);
  const Projections turned = {all.queries, all.keys, all.plain.values};
  const auto causal = [&](int64_t first, int64_t count) {
    const Segment part = part_of(all, first, count);
    return causal_attention({part.queries, part.keys, part.plain.values});
  };
  const InfiniMemory memory = memory_of(4, -1e4);
  SegmentState state;
  expect_near(attend_segment(memory, 0, part_of(all, 0, 4), state), causal(0, 4));
  expect_near(attend_segment(memory, 0, part_of(all, 4, 4), state), causal(4, 4));
  // A short segment sees as many tokens before it as fill the window.
  expect_near(attend_segment(memory, 0, part_of(all, 8, 1), state), causal(5, 4).narrow(0, 3, 1));
  expect_near(attend_segment(memory, 0, part_of(all, 9, 1), state), causal(6, 4).narrow(0, 3, 1));
  // One segment for all is full attention.
  SegmentState whole;
  expect_near(attend_segment(memory_of(10, 3), 0, all, whole), causal_attention(turned));
}

TEST_F(InfiniMemoryTest, its_work_is_that_of_its_matrices) {
  const DecoderShape shape{.layers = 3, .heads = kHeads, .kv_heads = kKeyHeads, .head_dim = kDim};
  InfiniMemory memory = memory_of(8, 0);
  SegmentWork work = work_of(memory, shape);
  EXPECT_EQ(work.tokens, 8);
  EXPECT_EQ(work.written, 3 * 2 * 36);  // of keys' heads
  EXPECT_EQ(work.read, 3 * 4 * 36);     // by queries'
  EXPECT_EQ(work.bytes, 3 * 2 * (36 + 6) * 4);
  memory = memory_of(8, 0, true);
  memory.options.rule = MemoryRule::delta;
  work = work_of(memory, shape);
  EXPECT_EQ(work.written, 2 * 3 * (2 + 4) * 36);  // read before it is written
  EXPECT_EQ(work.read, 2 * 3 * 4 * 36);
}

TEST_F(InfiniMemoryTest, segments_are_whole_ones_a_rest_and_steps) {
  using Lengths = std::vector<int64_t>;
  EXPECT_EQ(segment_lengths(11, 4, 0), (Lengths{4, 4, 3}));
  EXPECT_EQ(segment_lengths(8, 4, 0), (Lengths{4, 4}));
  EXPECT_EQ(segment_lengths(8, 4, 2), (Lengths{4, 2, 1, 1}));
  EXPECT_EQ(segment_lengths(3, 4, 0), (Lengths{3}));
}

/// The kernel of a step on the memory of one head of keys, and the same by LibTorch.
struct Twins {
  LayerMemory kernel;
  LayerMemory plain;
  at::Tensor kernel_past;
  at::Tensor plain_past;
};

void step(Twins& twins, MemoryRule rule, bool query_focused, int64_t heads, int64_t dim,
          const at::Tensor& asking, const InfiniScalars& scalars) {
  const at::Tensor key = at::randn({1, 1, dim});
  const at::Tensor value = at::randn({1, 1, dim});
  const at::Tensor queries = at::randn({heads, 1, dim});
  const double divisor = 2.5;
  at::Tensor matters;
  if (query_focused) matters = relevance(asking, key, divisor);
  const bool first = twins.plain.empty();
  twins.plain = remembered(rule, twins.plain, key, value, matters);
  twins.plain_past = recalled(scalars, retrieved(twins.plain, queries));
  if (first) {  // what is there before must not matter
    twins.kernel = {at::full({1, dim, dim}, NAN), at::full({1, dim}, NAN),
                    at::full({heads, dim, dim}, NAN)};
  }
  twins.kernel_past = at::empty({heads, 1, dim});
  const at::Tensor scratch = at::empty({kernels::memory_scratch(dim)});
  kernels::MemoryStep task{.dim = dim,
                           .queries = heads,
                           .delta = rule == MemoryRule::delta,
                           .first = first,
                           .key = key.const_data_ptr<float>(),
                           .value = value.const_data_ptr<float>(),
                           .all = twins.kernel.all.mutable_data_ptr<float>(),
                           .norm = twins.kernel.norm.mutable_data_ptr<float>(),
                           .query = queries.const_data_ptr<float>(),
                           .past = twins.kernel_past.mutable_data_ptr<float>(),
                           .scratch = scratch.mutable_data_ptr<float>()};
  if (query_focused) {
    task.asked = twins.kernel.asked.mutable_data_ptr<float>();
    task.asking = asking.const_data_ptr<float>();
    task.relevance_scale = static_cast<float>(1 / divisor);
    task.weight = scalars.weight.const_data_ptr<float>();
    task.bias = scalars.bias.item<float>();
  }
  kernels::step_memory(task);
}

TEST_F(InfiniMemoryTest, the_kernel_of_a_step_equals_its_twin) {
  for (const MemoryRule rule : {MemoryRule::linear, MemoryRule::delta}) {
    for (const bool query_focused : {false, true}) {
      for (const auto& [heads, dim] : {std::pair(1, 7), std::pair(3, 64), std::pair(2, 20)}) {
        const at::Tensor asking = at::randn({heads, dim});
        const InfiniScalars scalars{{}, at::randn({dim}), at::randn({1})};
        Twins twins;
        for (int i = 0; i < 6; ++i) {
          step(twins, rule, query_focused, heads, dim, asking, scalars);
          expect_near(twins.kernel_past, twins.plain_past);
          expect_near(twins.kernel.all, twins.plain.all);
          expect_near(twins.kernel.norm, twins.plain.norm);
          if (query_focused) expect_near(twins.kernel.asked, twins.plain.asked);
        }
      }
    }
  }
}

}  // namespace
}  // namespace qfs::nn
