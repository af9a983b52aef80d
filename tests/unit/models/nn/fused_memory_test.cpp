// The kernel of a compressive memory is what LibTorch's operations make of float64.
#include "methods/models/nn/fused_memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "methods/models/kernels/segment_memory.h"

namespace qfs::nn {
namespace {

struct Sizes {
  int64_t heads, kv_heads, dim, tokens;
};

/// Below one block and one vector, borders of both, and a model's.
const Sizes kSizes[] = {{3, 1, 7, 5}, {4, 2, 20, 48}, {2, 2, 32, 49}, {9, 3, 64, 130}};

at::Tensor drawn(std::vector<int64_t> sizes) { return at::randn(sizes, at::kDouble); }

/// What three segments write and read by one implementation, in its type.
struct Outcome {
  LayerMemory memory;
  at::Tensor merged;                  ///< the sum of what they read
  std::vector<at::Tensor> gradients;  ///< of queries, local, beta, w_g and b_g
};

struct Case {
  Sizes sizes;
  MemoryRule rule;
  bool query_focused;
  bool bias = true;
  double scale = 1;      ///< of values
  double key_shift = 0;  ///< of keys
};

class Both {
 public:
  explicit Both(const Case& of) : case_(of) {
    at::manual_seed(11);
    const auto& [heads, kv_heads, dim, tokens] = of.sizes;
    for (int i = 0; i < 3; ++i) {
      keys_.push_back(drawn({tokens, kv_heads, dim}) + of.key_shift);
      values_.push_back(drawn({tokens, kv_heads, dim}) * of.scale);
      matters_.push_back(of.query_focused ? drawn({heads, tokens}).sigmoid() : at::Tensor());
    }
    queries_ = drawn({tokens, heads, dim});
    local_ = drawn({tokens, heads * dim});
    probe_ = drawn({tokens, heads * dim});
    scalars_ = {drawn({heads}), {}, {}};
    if (!of.query_focused) return;
    scalars_.weight = drawn({dim}) / of.scale;
    if (of.bias) scalars_.bias = drawn({1});
  }

  Outcome run(at::ScalarType type, bool kernels) const {
    const auto leaf = [&](const at::Tensor& one, at::ScalarType in) {
      return one.defined() ? one.detach().to(in).set_requires_grad(true) : one;
    };
    const at::ScalarType wide = type == at::kDouble ? type : at::kFloat;
    const std::vector<at::Tensor> of = {leaf(queries_, type), leaf(local_, type),
                                        leaf(scalars_.beta, wide), leaf(scalars_.weight, wide),
                                        leaf(scalars_.bias, wide)};
    const InfiniScalars scalars = {of[2], of[3], of[4]};
    Outcome outcome;
    for (size_t i = 0; i < keys_.size(); ++i) {
      const Leaving leaving = {keys_[i].to(type), values_[i].to(type),
                               matters_[i].defined() ? matters_[i].to(wide) : at::Tensor()};
      const at::Tensor merged =
          kernels ? pass_by_kernel(case_.rule, scalars, leaving, of[0], of[1], outcome.memory)
                  : pass(scalars, leaving, of[0], of[1], outcome.memory);
      outcome.merged = i == 0 ? merged : outcome.merged + merged;
    }
    (outcome.merged * probe_.to(type)).sum().backward();
    for (const at::Tensor& one : of) {
      if (one.defined()) outcome.gradients.push_back(one.grad());
    }
    return outcome;
  }

  /// The largest difference, in parts of the largest value.
  static double distance(const at::Tensor& a, const at::Tensor& b) {
    EXPECT_EQ(a.sizes(), b.sizes());
    const at::Tensor wide = b.to(at::kDouble);
    return ((a.to(at::kDouble) - wide).abs().max() / wide.abs().max()).item<double>();
  }

  void expect_near(at::ScalarType type, double tolerance, double of_gradients) const {
    const Outcome twin = run(at::kDouble, false);
    const Outcome own = run(type, true);
    EXPECT_LT(distance(own.memory.all, twin.memory.all), tolerance);
    EXPECT_LT(distance(own.memory.norm, twin.memory.norm), tolerance);
    ASSERT_EQ(own.memory.asked.defined(), case_.query_focused);
    if (case_.query_focused) {
      EXPECT_LT(distance(own.memory.asked, twin.memory.asked), tolerance);
    }
    EXPECT_EQ(own.merged.scalar_type(), type);
    EXPECT_LT(distance(own.merged, twin.merged), tolerance);
    ASSERT_EQ(own.gradients.size(), twin.gradients.size());
    for (size_t i = 0; i < own.gradients.size(); ++i) {
      EXPECT_LT(distance(own.gradients[i], twin.gradients[i]), of_gradients) << i;
    }
  }

 private:
  at::Tensor pass(const InfiniScalars& scalars, const Leaving& leaving, const at::Tensor& queries,
                  const at::Tensor& local, LayerMemory& memory) const {
    memory = remembered(case_.rule, memory, leaving.keys.transpose(0, 1),
                        leaving.values.transpose(0, 1), leaving.relevance);
    const at::Tensor past = recalled(scalars, retrieved(memory, queries.transpose(0, 1)));
    const at::Tensor near = local.view(queries.sizes()).transpose(0, 1);
    return merged(scalars, past, near).transpose(0, 1).flatten(1);
  }

  Case case_;
  std::vector<at::Tensor> keys_, values_, matters_;
  at::Tensor queries_, local_, probe_;
  InfiniScalars scalars_;
};

TEST(FusedMemory, IsThatOfFloat64) {
  for (const Sizes& sizes : kSizes) {
    for (const MemoryRule rule : {MemoryRule::linear, MemoryRule::delta}) {
      for (const bool query_focused : {false, true}) {
        SCOPED_TRACE(std::to_string(sizes.dim) + (query_focused ? " asked" : "") +
                     (rule == MemoryRule::delta ? " delta" : ""));
        Both({sizes, rule, query_focused}).expect_near(at::kFloat, 1e-5, 1e-4);
      }
    }
  }
  Both({kSizes[1], MemoryRule::delta, true, false}).expect_near(at::kFloat, 1e-5, 1e-4);
  Both({kSizes[1], MemoryRule::delta, true}).expect_near(at::kBFloat16, 3e-2, 5e-2);
}

TEST(FusedMemory, CutsWhatIsKeptAndReadAndStopsItsGradients) {
  // Matrices at the bound, read by weights far below 1.
  const Case large = {kSizes[1], MemoryRule::linear, true, true, 1e7, -6};
  const Outcome twin = Both(large).run(at::kDouble, false);
  EXPECT_EQ(twin.memory.all.abs().max().item<double>(), 65500);
  EXPECT_LT(twin.merged.abs().min().item<double>(), 60000);
  Both(large).expect_near(at::kFloat, 1e-4, 1e-3);
}

TEST(FusedMemory, HasTheSameBitsOnAnyNumberOfThreads) {
  constexpr int64_t kTokens = 130;
  constexpr int64_t kHeads = 6;
  constexpr int64_t kKeyHeads = 2;
  constexpr int64_t kDim = 20;
  at::manual_seed(3);
  const at::Tensor held = at::rand({(kKeyHeads * (kDim + 1) + kHeads * kDim) * kDim});
  const at::Tensor rows = at::randn({5, kTokens, kHeads, kDim});
  const at::Tensor relevance = at::rand({kHeads, kTokens});
  const at::Tensor scalars = at::randn({kHeads + kDim + 1});
  const auto* const scalar = scalars.const_data_ptr<float>();
  const auto row = [&](int64_t i) { return rows.select(0, i).const_data_ptr<float>(); };
  // M, z and M_query behind one another.
  constexpr int64_t kNorm = kKeyHeads * kDim * kDim;
  constexpr int64_t kAsked = kNorm + kKeyHeads * kDim;
  const auto* const before = held.const_data_ptr<float>();
  const auto made_with = [&](const kernels::ForItems& for_items) {
    const at::Tensor after = at::empty_like(held);
    const at::Tensor merged = at::empty_like(rows.select(0, 0));
    const at::Tensor gradients = at::empty({2 * kHeads * kTokens * kDim + kHeads + kDim + 1});
    auto* const into = after.mutable_data_ptr<float>();
    const kernels::MemoryReading reading = {.of = {kHeads, kKeyHeads, kDim},
                                            .tokens = kTokens,
                                            .memory = {into, into + kNorm, into + kAsked},
                                            .beta = scalar,
                                            .weight = scalar + kHeads,
                                            .bias = scalar + kHeads + kDim,
                                            .queries = row(0),
                                            .local = row(1)};
    kernels::pass_memory({.before = {before, before + kNorm, before + kAsked},
                          .tokens = kTokens,
                          .keys = row(3),
                          .values = row(4),
                          .relevance = relevance.const_data_ptr<float>(),
                          .delta = true},
                         {into, into + kNorm, into + kAsked}, reading,
                         merged.mutable_data_ptr<float>(), for_items);
    auto* const to = gradients.mutable_data_ptr<float>();
    auto* const of_states = to + kHeads + kDim + 1;
    kernels::pass_memory_back(reading, row(2),
                              {.beta = to,
                               .weight = to + kHeads,
                               .bias = to + kHeads + kDim,
                               .queries = of_states,
                               .local = of_states + kHeads * kTokens * kDim},
                              for_items);
    return at::cat({after, merged.flatten(), gradients});
  };
  const at::Tensor forwards = made_with([](int64_t count, const auto& body) {
    for (int64_t i = 0; i < count; ++i) body(i);
  });
  const at::Tensor backwards = made_with([](int64_t count, const auto& body) {
    for (int64_t i = count; i-- > 0;) body(i);
  });
  EXPECT_TRUE(forwards.isfinite().all().item<bool>());
  EXPECT_TRUE(at::equal(forwards, backwards));
}

}  // namespace
}  // namespace qfs::nn
