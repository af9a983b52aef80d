// Tokens drawn on a device are those of the host's sampler for the same uniform numbers: the CPU
// twin always, CUDA where a machine has it (label gpu).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "harness/core/rng.h"
#include "methods/models/decoding/sampler.h"
#include "methods/models/kernels/device_sampling_cpu.h"
#include "methods/models/kernels/nucleus_select.h"
#include "tests/support/kernel_device.h"

namespace qfs::kernels {
namespace {

using generation::NucleusRule;
using generation::Sampler;
using generation::SamplingOptions;

constexpr float kBanned = -std::numeric_limits<float>::infinity();

class DeviceSamplingTest : public ::testing::Test {
 protected:
  /// A row of logits drawn for `seed`, of a spread as models have it.
  static std::vector<float> random_logits(int64_t vocabulary, uint64_t seed, float spread = 4) {
    Rng rng = Rng::derived(seed, "logits");
    std::vector<float> logits;
    for (int64_t i = 0; i < vocabulary; ++i) {
      const double sum = rng.uniform() + rng.uniform() + rng.uniform() - 1.5;
      logits.push_back(static_cast<float>(sum) * spread);
    }
    return logits;
  }

  /// Draws of all rows together; `seeds` give the uniforms that the host's samplers draw.
  std::vector<int32_t> on_device(const std::vector<std::vector<float>>& logits,
                                 const SamplingOptions& options, const std::vector<uint64_t>& seeds,
                                 at::ScalarType scalar = at::kFloat, int threads = 0) const {
    const auto rows = static_cast<int64_t>(logits.size());
    const auto vocabulary = static_cast<int64_t>(logits[0].size());
    const at::Tensor host = at::empty({rows, vocabulary}, at::kFloat);
    const at::Tensor uniforms = at::empty({rows}, at::kDouble);
    for (int64_t r = 0; r < rows; ++r) {
      const auto& row = logits[static_cast<size_t>(r)];
      std::ranges::copy(row, host.mutable_data_ptr<float>() + r * vocabulary);
      uniforms.mutable_data_ptr<double>()[r] =
          Rng::derived(seeds[static_cast<size_t>(r)], "sampling").uniform();
    }
    const at::Tensor there = host.to(device_.place, scalar);
    const at::Tensor numbers = uniforms.to(device_.place);
    const at::Tensor workspace = at::full({rows, vocabulary}, -1, at::kLong).to(device_.place);
    const at::Tensor ids = at::full({rows}, -2, at::kInt).to(device_.place);
    SampleNucleus task;
    task.type = scalar == at::kFloat ? ElementType::f32 : ElementType::bf16;
    task.logits = there.const_data_ptr();
    task.uniforms = numbers.const_data_ptr<double>();
    task.rows = rows;
    task.vocabulary = vocabulary;
    task.temperature = options.temperature;
    task.top_k = options.top_k;
    task.top_p = options.top_p;
    task.exceeds = options.nucleus == NucleusRule::exceeds;
    task.workspace = reinterpret_cast<uint64_t*>(workspace.mutable_data_ptr<int64_t>());
    task.ids = ids.mutable_data_ptr<int32_t>();
    const int code = threads > 0 ? sample_nucleus_by_threads(task, threads)
                                 : device_.kernels->sample_nucleus(task, device_.stream());
    EXPECT_EQ(code, 0);
    const at::Tensor drawn = ids.to(at::kCPU);
    return {drawn.const_data_ptr<int32_t>(), drawn.const_data_ptr<int32_t>() + rows};
  }

  static std::vector<int32_t> on_host(const std::vector<std::vector<float>>& logits,
                                      const SamplingOptions& options,
                                      const std::vector<uint64_t>& seeds) {
    std::vector<int32_t> ids;
    for (size_t r = 0; r < logits.size(); ++r) {
      ids.push_back(Sampler(options, seeds[r]).draw(logits[r]));
    }
    return ids;
  }

  void expect_equal(const std::vector<float>& row, const SamplingOptions& options,
                    uint64_t most = 200) const {
    const uint64_t draws = test::repetitions(most);
    std::vector<uint64_t> seeds(draws);
    for (uint64_t i = 0; i < draws; ++i) seeds[i] = i;
    const std::vector<std::vector<float>> logits(draws, row);
    EXPECT_EQ(on_device(logits, options, seeds), on_host(logits, options, seeds))
        << "temperature " << options.temperature << " top_k " << options.top_k << " top_p "
        << options.top_p;
  }

  test::KernelDevice device_ = test::kernel_device();
};

TEST_F(DeviceSamplingTest, random_logits_give_the_hosts_ids_under_every_option) {
  for (const int64_t vocabulary : {7, 1000, 5003}) {
    const auto row = random_logits(vocabulary, static_cast<uint64_t>(vocabulary));
    for (const NucleusRule rule : {NucleusRule::reaches, NucleusRule::exceeds}) {
      for (const double top_p : {0.01, 0.3, 0.75, 0.95, 0.9999, 1.0}) {
        for (const int64_t top_k : {0, 1, 5, 50, 100000}) {
          expect_equal(row, {.temperature = 0.7, .top_k = top_k, .top_p = top_p, .nucleus = rule},
                       40);
        }
      }
    }
  }
}

TEST_F(DeviceSamplingTest, temperatures_from_nothing_to_everything) {
  const auto row = random_logits(300, 5);
  for (const double temperature : {1e-300, 1e-3, 0.1, 1.0, 30.0, 1e30}) {
    for (const double top_p : {0.6, 1.0}) {
      expect_equal(row, {.temperature = temperature, .top_p = top_p});
    }
  }
}

TEST_F(DeviceSamplingTest, equal_logits_are_drawn_by_id_and_cut_as_the_rule_says) {
  // Eight tokens of an eighth each and a banned one: every boundary is exact.
  std::vector<float> row(9, 1.5f);
  row[3] = kBanned;
  for (const NucleusRule rule : {NucleusRule::reaches, NucleusRule::exceeds}) {
    for (const double top_p : {0.125, 0.375, 0.5, 0.875, 0.9, 1.0}) {
      expect_equal(row, {.top_p = top_p, .nucleus = rule});
    }
    // Tokens as probable as the k-th stay.
    expect_equal(row, {.top_k = 2, .top_p = 0.5, .nucleus = rule});
  }
  std::vector<float> two_kinds = random_logits(64, 3);
  for (size_t i = 0; i < two_kinds.size(); ++i) two_kinds[i] = i % 3 == 0 ? 2.0f : -1.0f;
  for (const double top_p : {0.4, 0.8}) expect_equal(two_kinds, {.top_k = 30, .top_p = top_p});
}

TEST_F(DeviceSamplingTest, one_token_is_always_kept) {
  std::vector<float> row(100, kBanned);
  row[42] = -3;
  expect_equal(row, {.top_p = 1e-12}, 5);
  expect_equal(row, {.top_k = 1}, 5);
  expect_equal(random_logits(100, 9), {.top_p = 1e-12}, 20);
}

TEST_F(DeviceSamplingTest, a_draw_depends_neither_on_the_batch_nor_on_the_threads) {
  std::vector<std::vector<float>> logits;
  std::vector<uint64_t> seeds;
  for (uint64_t r = 0; r < 20; ++r) {
    logits.push_back(random_logits(3001, r));
    seeds.push_back(100 + r);
  }
  const SamplingOptions options = {.temperature = 0.9, .top_k = 700, .top_p = 0.9};
  const auto together = on_device(logits, options, seeds);
  for (size_t r = 0; r < logits.size(); ++r) {
    EXPECT_EQ(on_device({logits[r]}, options, {seeds[r]})[0], together[r]);
  }
  if (test::on_cuda()) return;
  for (const int threads : {1, 33, 2048}) {
    EXPECT_EQ(on_device(logits, options, seeds, at::kFloat, threads), together) << threads;
  }
}

TEST_F(DeviceSamplingTest, a_row_that_nothing_can_be_drawn_from_gets_no_id_and_disturbs_no_other) {
  const SamplingOptions options = {.top_k = 5, .top_p = 0.9};
  const auto good = random_logits(300, 4);
  const int32_t expected = on_host({good}, options, {3})[0];
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
        std::numeric_limits<float>::infinity()}) {
    for (const size_t place : {size_t{0}, size_t{123}, size_t{299}}) {
      auto row = good;
      row[place] = bad;
      EXPECT_EQ(on_device({good, row, good}, options, {3, 4, 3}),
                (std::vector<int32_t>{expected, -1, expected}))
          << bad << " at " << place;
    }
  }
  const std::vector<float> banned(300, kBanned);
  EXPECT_EQ(on_device({banned, good}, options, {1, 3}), (std::vector<int32_t>{-1, expected}));
}

TEST_F(DeviceSamplingTest, sixteen_bit_logits_are_read_as_they_are) {
  const auto row = random_logits(500, 8);
  std::vector<float> rounded;
  for (const float logit : row) rounded.push_back(static_cast<float>(c10::BFloat16(logit)));
  const SamplingOptions options = {.temperature = 1.3, .top_p = 0.8};
  const std::vector<uint64_t> seeds = {1, 2, 3, 4};
  EXPECT_EQ(on_device({row, row, row, row}, options, seeds, at::kBFloat16),
            on_host({rounded, rounded, rounded, rounded}, options, seeds));
}

TEST_F(DeviceSamplingTest, draws_have_the_hosts_frequencies) {
  const auto row = random_logits(40, 2, 2);
  const SamplingOptions options = {.temperature = 0.8, .top_p = 0.7};
  constexpr uint64_t kDraws = 20000;
  std::vector<uint64_t> seeds(kDraws);
  for (uint64_t i = 0; i < kDraws; ++i) seeds[i] = i;
  std::vector<double> counts(40);
  for (const int32_t id : on_device({kDraws, row}, options, seeds)) {
    counts[static_cast<size_t>(id)] += 1.0 / kDraws;
  }
  for (const auto& [probability, id] : generation::sampling_distribution(options, row)) {
    EXPECT_NEAR(counts[static_cast<size_t>(id)], probability, 0.02) << id;
    counts[static_cast<size_t>(id)] = 0;
  }
  for (const double left : counts) EXPECT_EQ(left, 0);  // nothing outside the nucleus
}

TEST_F(DeviceSamplingTest, impossible_tasks_are_refused_by_code) {
  SampleNucleus task;
  task.vocabulary = kMaxVocabulary + 1;
  EXPECT_NE(device_.kernels->sample_nucleus(task, device_.stream()), 0);
  task.vocabulary = 4;
  task.temperature = 0;
  EXPECT_NE(device_.kernels->sample_nucleus(task, device_.stream()), 0);
  task.temperature = 1;
  task.top_p = 0;
  EXPECT_NE(device_.kernels->sample_nucleus(task, device_.stream()), 0);
  task.top_p = 1;
  EXPECT_EQ(device_.kernels->sample_nucleus(task, device_.stream()), 0);  // no rows
}

}  // namespace
}  // namespace qfs::kernels
