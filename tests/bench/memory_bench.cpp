// qfs_bench_memory: what a compressive memory takes in a layer of a segment (448 tokens, 9 heads of
// 64 which share 3 of keys, SmolLM2's) that moves as many out of the window, by the kernel and by
// LibTorch's operations: written and read; with gradients, too.
//
//   qfs_bench_memory --benchmark_enable_random_interleaving=true --benchmark_repetitions=5
#include <ATen/Parallel.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sum.h>
#include <benchmark/benchmark.h>
#include <c10/core/GradMode.h>

#include "methods/models/nn/fused_memory.h"

namespace {

using namespace qfs;  // NOLINT: a program of one file

constexpr int64_t kTokens = 448;
constexpr int64_t kHeads = 9;
constexpr int64_t kKeyHeads = 3;
constexpr int64_t kDim = 64;

struct Layer {
  nn::Leaving leaving = {at::randn({kTokens, kKeyHeads, kDim}),
                         at::randn({kTokens, kKeyHeads, kDim}), at::rand({kHeads, kTokens})};
  at::Tensor queries = at::randn({kTokens, kHeads, kDim}).set_requires_grad(true);
  at::Tensor local = at::randn({kTokens, kHeads* kDim}).set_requires_grad(true);
  nn::InfiniScalars scalars = {at::randn({kHeads}).set_requires_grad(true),
                               at::randn({kDim}).set_requires_grad(true),
                               at::randn({1}).set_requires_grad(true)};
  nn::LayerMemory memory = nn::remembered(nn::MemoryRule::delta, {}, leaving.keys.transpose(0, 1),
                                          leaving.values.transpose(0, 1), leaving.relevance);
};

at::Tensor pass(const Layer& layer, bool kernel) {
  nn::LayerMemory memory = layer.memory;
  if (kernel) {
    return nn::pass_by_kernel(nn::MemoryRule::delta, layer.scalars, layer.leaving, layer.queries,
                              layer.local, memory);
  }
  memory = nn::remembered(nn::MemoryRule::delta, memory, layer.leaving.keys.transpose(0, 1),
                          layer.leaving.values.transpose(0, 1), layer.leaving.relevance);
  const at::Tensor past =
      nn::recalled(layer.scalars, nn::retrieved(memory, layer.queries.transpose(0, 1)));
  const at::Tensor local = layer.local.view(layer.queries.sizes()).transpose(0, 1);
  return nn::merged(layer.scalars, past, local).transpose(0, 1).flatten(1);
}

void forward(benchmark::State& state) {
  const c10::AutoGradMode without_gradients(false);
  at::set_num_threads(static_cast<int>(state.range(1)));
  const Layer layer;
  for (auto _ : state) {
    const at::Tensor merged = pass(layer, state.range(0) == 1);
    benchmark::DoNotOptimize(merged.const_data_ptr<float>());
  }
}

void forward_and_back(benchmark::State& state) {
  at::set_num_threads(static_cast<int>(state.range(1)));
  const Layer layer;
  const at::Tensor above = at::randn({kTokens, kHeads * kDim});
  for (auto _ : state) {
    pass(layer, state.range(0) == 1).mul(above).sum().backward();
  }
}

}  // namespace

BENCHMARK(forward)->ArgsProduct({{0, 1}, {1, 2}})->ArgNames({"kernel", "threads"})->UseRealTime();
BENCHMARK(forward_and_back)
    ->ArgsProduct({{0, 1}, {1, 2}})
    ->ArgNames({"kernel", "threads"})
    ->UseRealTime();

BENCHMARK_MAIN();
