// qfs_bench_llama: times prefill and decoding of a model of the LLaMA family on command, one JSON
// line in, one out, so that the scripts beside this file can interleave it with other programs in
// one run.
//
//   qfs_bench_llama MODEL THREADS [bfloat16]    MODEL: a GGUF file or a folder
//   {"tokens": 512, "batch": 1, "steps": 0}    -> {"seconds": …, "ids": […]}: the prefill is timed
//   {"tokens": 512, "batch": 8, "steps": 16}   -> likewise: only the steps after it are timed
//
// Prompts are pseudo-random ids from a fixed rule that both programs share; `ids` are the greedy
// tokens of row 0.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/core/clock.h"
#include "methods/models/architectures/llama/llama.h"
#include "methods/models/architectures/llama/llama_bfloat16.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/bench/bench_model.h"

namespace {

using qfs::architectures::Llama;
using qfs::nn::KeyValueCache;

using qfs::test::must;
using qfs::test::value_or_exit;

std::vector<int32_t> prompt(int64_t tokens, int64_t row) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < tokens; ++i) {
    ids.push_back(static_cast<int32_t>((i * 7919 + row * 104729 + i * i % 1009) % 40000 + 100));
  }
  return ids;
}

qfs::Result<std::shared_ptr<const qfs::architectures::LlamaWeights>> load(const std::string& path) {
  if (!std::filesystem::is_directory(path)) {
    return qfs::architectures::load_llama_weights(
        value_or_exit(qfs::checkpoints::GgufFile::open(path)));
  }
  return qfs::architectures::load_llama_weights(
      value_or_exit(qfs::checkpoints::ModelDirectory::open(path)));
}

class Bench {
 public:
  explicit Bench(Llama& llama) : llama_(llama) {}

  nlohmann::json run(int64_t tokens, int64_t batch, int64_t steps) {
    const int64_t vocabulary = llama_.config().vocabulary;
    KeyValueCache cache;
    must(llama_.make_room(cache, batch, tokens + std::max<int64_t>(steps, 1)));
    std::vector<float> logits(static_cast<size_t>(batch * vocabulary));
    std::vector<int64_t> rows;
    std::vector<int32_t> next;
    int64_t begin_ns = qfs::monotonic_ns();
    for (int64_t row = 0; row < batch; ++row) {
      const std::span<float> first(logits.data(), static_cast<size_t>(vocabulary));
      must(llama_.prefill(cache, row, prompt(tokens, row), first));
      rows.push_back(row);
      next.push_back(best(first));
    }
    std::vector<int32_t> ids = {next[0]};
    if (steps > 0) begin_ns = qfs::monotonic_ns();
    for (int64_t step = 0; step < steps; ++step) {
      must(llama_.decode(cache, rows, next, logits));
      for (size_t row = 0; row < next.size(); ++row) {
        next[row] = best(std::span<const float>(logits).subspan(
            row * static_cast<size_t>(vocabulary), static_cast<size_t>(vocabulary)));
      }
      ids.push_back(next[0]);
    }
    return {{"seconds", static_cast<double>(qfs::monotonic_ns() - begin_ns) * 1e-9}, {"ids", ids}};
  }

 private:
  static int32_t best(std::span<const float> logits) {
    return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }

  Llama& llama_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool rounded = argc == 4 && std::string_view(argv[3]) == "bfloat16";
  if (argc != 3 && !rounded) {
    std::cerr << "usage: qfs_bench_llama MODEL THREADS [bfloat16]\n";
    return 2;
  }
  qfs::RuntimeOptions runtime;
  runtime.threads = std::atoi(argv[2]);
  must(qfs::nn::configure_torch(runtime));
  auto weights = value_or_exit(load(argv[1]));
  if (rounded) weights = value_or_exit(qfs::architectures::rounded_to_bfloat16(weights));
  Llama llama(weights, rounded && qfs::kernels::has_bfloat16_products());
  Bench bench(llama);
  for (std::string line; std::getline(std::cin, line);) {
    const auto task = nlohmann::json::parse(line);
    std::cout << bench.run(task["tokens"], task["batch"], task["steps"]).dump() << std::endl;
  }
  return 0;
}
