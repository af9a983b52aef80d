// qfs_bench_memory: what a compressive memory takes in a layer of a segment (448 tokens, 9 heads of
// 64 which share 3 of keys, SmolLM2's), by the kernels and by LibTorch's operations; reading
// forward and backward.
//
//   qfs_bench_memory --benchmark_enable_random_interleaving=true --benchmark_repetitions=5
#include <ATen/Parallel.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sum.h>
#include <benchmark/benchmark.h>

#include "methods/models/nn/fused_memory.h"

namespace {

using namespace qfs;  // NOLINT: a program of one file

constexpr int64_t kTokens = 448;
constexpr int64_t kHeads = 9;
constexpr int64_t kKeyHeads = 3;
constexpr int64_t kDim = 64;

struct Layer {
  at::Tensor keys = at::randn({kTokens, kKeyHeads, kDim});
  at::Tensor values = at::randn({kTokens, kKeyHeads, kDim});
  at::Tensor relevance = at::rand({kHeads, kTokens});
  at::Tensor queries = at::randn({kTokens, kHeads, kDim}).set_requires_grad(true);
  at::Tensor local = at::randn({kTokens, kHeads* kDim}).set_requires_grad(true);
  nn::InfiniScalars scalars = {at::randn({kHeads}).set_requires_grad(true),
                               at::randn({kDim}).set_requires_grad(true),
                               at::randn({1}).set_requires_grad(true)};
  nn::LayerMemory memory =
      nn::remembered_by_kernels(nn::MemoryRule::delta, {}, keys, values, relevance);
};

void write(benchmark::State& state) {
  at::set_num_threads(static_cast<int>(state.range(1)));
  const Layer layer;
  for (auto _ : state) {
    const nn::LayerMemory after =
        state.range(0) == 1
            ? nn::remembered_by_kernels(nn::MemoryRule::delta, layer.memory, layer.keys,
                                        layer.values, layer.relevance)
            : nn::remembered(nn::MemoryRule::delta, layer.memory, layer.keys.transpose(0, 1),
                             layer.values.transpose(0, 1), layer.relevance);
    benchmark::DoNotOptimize(after.all.const_data_ptr<float>());
  }
}

at::Tensor read(const Layer& layer, bool kernels) {
  if (kernels) {
    return nn::merged_by_kernels(layer.scalars, layer.memory, layer.queries, layer.local);
  }
  const at::Tensor past =
      nn::recalled(layer.scalars, nn::retrieved(layer.memory, layer.queries.transpose(0, 1)));
  const at::Tensor local = layer.local.view(layer.queries.sizes()).transpose(0, 1);
  return nn::merged(layer.scalars, past, local).transpose(0, 1).flatten(1);
}

void read_and_back(benchmark::State& state) {
  at::set_num_threads(static_cast<int>(state.range(1)));
  const Layer layer;
  const at::Tensor above = at::randn({kTokens, kHeads * kDim});
  for (auto _ : state) {
    read(layer, state.range(0) == 1).mul(above).sum().backward();
  }
}

}  // namespace

BENCHMARK(write)->ArgsProduct({{0, 1}, {1, 2}})->ArgNames({"kernels", "threads"})->UseRealTime();
BENCHMARK(read_and_back)
    ->ArgsProduct({{0, 1}, {1, 2}})
    ->ArgNames({"kernels", "threads"})
    ->UseRealTime();

BENCHMARK_MAIN();
