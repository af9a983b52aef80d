// Causal attention and its gradients are their formulas at every border of blocks and panels, and
// have the same bits on any number of threads.
#include "methods/models/kernels/packed_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "harness/core/rng.h"
#include "methods/models/kernels/thread_pool.h"

namespace qfs::kernels {
namespace {

struct Case {
  int64_t tokens;
  int64_t heads;
  int64_t kv_heads;
  int64_t dim;
};

std::vector<float> random_values(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(4 * rng.uniform() - 2);
  return values;
}

/// Output and gradients by the textbook's formulas, in float64.
struct Expected {
  Expected(const AttentionRows& of, const std::vector<float>& above)
      : out(static_cast<size_t>(of.tokens * of.heads * of.dim)),
        gradients(static_cast<size_t>(of.tokens * of.width())) {
    const double scale = 1 / std::sqrt(static_cast<double>(of.dim));
    const auto at = [&](int64_t token, int64_t head, int64_t i) {
      return static_cast<size_t>(token * of.width() + head * of.dim + i);
    };
    for (int64_t head = 0; head < of.heads; ++head) {
      const int64_t key = of.heads + head / (of.heads / of.kv_heads);
      const int64_t value = key + of.kv_heads;
      for (int64_t t = 0; t < of.tokens; ++t) {
        std::vector<double> shares;
        for (int64_t s = 0; s <= t; ++s) {
          double score = 0;
          for (int64_t i = 0; i < of.dim; ++i) {
            score += double{of.rows[at(t, head, i)]} * of.rows[at(s, key, i)];
          }
          shares.push_back(std::exp(score * scale));
        }
        double sum = 0;
        for (const double share : shares) sum += share;
        std::vector<double> of_shares;
        double mean = 0;
        for (int64_t s = 0; s <= t; ++s) {
          const double share = shares[static_cast<size_t>(s)] /= sum;
          double of_share = 0;
          for (int64_t i = 0; i < of.dim; ++i) {
            const auto to = static_cast<size_t>((t * of.heads + head) * of.dim + i);
            out[to] += share * of.rows[at(s, value, i)];
            of_share += double{above[to]} * of.rows[at(s, value, i)];
            gradients[at(s, value, i)] += share * above[to];
          }
          of_shares.push_back(of_share);
          mean += share * of_share;
        }
        for (int64_t s = 0; s <= t; ++s) {
          const auto seen = static_cast<size_t>(s);
          const double of_score = scale * shares[seen] * (of_shares[seen] - mean);
          for (int64_t i = 0; i < of.dim; ++i) {
            gradients[at(t, head, i)] += of_score * of.rows[at(s, key, i)];
            gradients[at(s, key, i)] += of_score * of.rows[at(t, head, i)];
          }
        }
      }
    }
  }

  std::vector<double> out;
  std::vector<double> gradients;
};

/// Output and gradients as the kernels have them; buffers begin as anything.
std::pair<std::vector<float>, std::vector<float>> computed(const AttentionRows& of,
                                                           const std::vector<float>& above,
                                                           int threads) {
  ThreadPool pool(threads);
  const ForItems for_items = [&](int64_t count, const std::function<void(int64_t)>& body) {
    pool.for_items(count, [&](int64_t index) { body(index); });
  };
  std::vector<float> out(above.size(), 7);
  std::vector<float> gradients(static_cast<size_t>(of.tokens * of.width()), 7);
  attend_causally(of, out.data(), for_items);
  attend_causally_back(of, above.data(), gradients.data(), for_items);
  return {out, gradients};
}

class PackedAttentionTest : public ::testing::TestWithParam<Case> {
 protected:
  PackedAttentionTest() { of_.rows = rows_.data(); }

  AttentionRows of_ = {nullptr, GetParam().tokens, GetParam().heads, GetParam().kv_heads,
                       GetParam().dim};
  std::vector<float> rows_ = random_values(of_.tokens * of_.width(), 1);
  std::vector<float> above_ = random_values(of_.tokens * of_.heads * of_.dim, 2);
};

TEST_P(PackedAttentionTest, OutputAndGradientsAreTheirFormulas) {
  const Expected expected(of_, above_);
  const auto [out, gradients] = computed(of_, above_, 1);
  for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected.out[i], 2e-6) << i;
  for (size_t i = 0; i < gradients.size(); ++i) {
    ASSERT_NEAR(gradients[i], expected.gradients[i], 2e-5) << i;
  }
}

TEST_P(PackedAttentionTest, BitsDependOnNoNumberOfThreads) {
  EXPECT_EQ(computed(of_, above_, 3), computed(of_, above_, 1));
}

INSTANTIATE_TEST_SUITE_P(Shapes, PackedAttentionTest,
                         ::testing::Values(Case{1, 1, 1, 4}, Case{47, 2, 2, 32}, Case{48, 4, 2, 5},
                                           Case{49, 3, 1, 64}, Case{97, 2, 1, 33},
                                           Case{300, 6, 3, 16}, Case{40, 20, 20, 2}));

}  // namespace
}  // namespace qfs::kernels
