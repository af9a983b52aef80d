// qfs_bench_infini_memory: what a process holds that reads a prompt and writes 16 tokens, with full
// attention or a query-focused memory; for infini_memory.py, one process a length.
//
//   qfs_bench_infini_memory MODEL THREADS full|qf_infini TOKENS SEGMENT
//     -> {"loaded_bytes": …, "state_bytes": …, "predicted_bytes": …, "peak_bytes": …, "seconds": …}
//
// `state_bytes`: what the row holds. `predicted_bytes`: what the process had once the model
// had read a few tokens, and what the shapes say of the rest: keys and values of all positions, or
// windows and memories twice (those of the prompt go over into the row's), and of the tokens that
// are read at once two streams, the projections and the wider half of an MLP.
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "harness/core/child_process.h"
#include "harness/core/clock.h"
#include "methods/models/nn/steps/segment_model.h"
#include "methods/models/nn/steps/step_model.h"
#include "tests/bench/bench_model.h"

namespace {

using namespace qfs;  // NOLINT: a program of one file

using test::must;
using test::value_or_exit;

constexpr int64_t kNewTokens = 16;
/// That are read before anything is measured, by the code that is measured.
constexpr int64_t kFewTokens = 40;

std::shared_ptr<const nn::InfiniMemory> memory_of(const nn::Decoder& decoder, int64_t segment) {
  std::vector<nn::InfiniScalars> layers;
  for (int64_t i = 0; i < decoder.shape().layers; ++i) {
    layers.push_back({at::full({decoder.shape().heads}, -3.0),
                      at::zeros({decoder.shape().head_dim}), at::zeros({1})});
  }
  return value_or_exit(
      nn::bind_memory({.segment = segment, .query_focused = true}, std::move(layers), decoder));
}

/// Of the tokens that are read at once.
int64_t passing_bytes(const nn::SequenceShape& shape, int64_t tokens) {
  const nn::LayerWidths& w = shape.widths;
  const int64_t floats =
      2 * w.hidden + (2 * w.heads + 2 * w.kv_heads) * w.head_dim + 3 * w.intermediate;
  return tokens * floats * static_cast<int64_t>(sizeof(float));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: qfs_bench_infini_memory MODEL THREADS full|qf_infini TOKENS SEGMENT\n";
    return 2;
  }
  const bool remembers = std::string_view(argv[3]) == "qf_infini";
  const int64_t tokens = std::atoll(argv[4]);
  const int64_t segment = std::atoll(argv[5]);
  test::BenchModel bench(argv[1], argv[2], "float32", tokens + kNewTokens);
  const auto decoder = bench.reader();
  std::unique_ptr<nn::SequenceModel> model;
  const nn::SegmentModel* segments = nullptr;
  int64_t state = 0;
  const nn::ModelWork work =
      bench.backbone->network->work(bench.backbone->network->element_bytes(bench.runtime));
  if (remembers) {
    auto memory = memory_of(*decoder, segment);
    const int64_t held = std::min(tokens + kNewTokens, segment);
    // Keys are held as they are and rotated.
    state = held * work.cache_bytes * 3 / 2 + nn::work_of(*memory, decoder->shape()).bytes;
    auto made = std::make_unique<nn::SegmentModel>(decoder, std::move(memory));
    segments = made.get();
    model = std::move(made);
  } else {
    state = (tokens + kNewTokens) * work.cache_bytes;
    model = std::make_unique<nn::StepModel>(decoder);
  }
  const auto prompt = [](int64_t count) {
    nn::SequenceInput input{.query = {4, 8}};
    for (int64_t i = 0; i < count; ++i) {
      input.ids.push_back(static_cast<int32_t>((i * 7919 + i * i % 1009) % 40000 + 100));
    }
    return input;
  };
  std::vector<float> logits(static_cast<size_t>(model->shape().vocabulary));
  must(model->begin(1, kFewTokens));
  must(model->prefill(0, prompt(kFewTokens), logits));
  const int64_t loaded = process_memory(getpid()).resident_bytes;
  const bool own_peak = reset_own_peak_memory();
  const int64_t begin_ns = monotonic_ns();
  must(model->begin(1, tokens + kNewTokens));
  must(model->prefill(0, prompt(tokens), logits));
  for (int64_t i = 0; i < kNewTokens; ++i) {
    const int64_t row = 0;
    const int32_t token = 300;
    must(model->decode({&row, 1}, {&token, 1}, logits));
  }
  const int64_t passing =
      passing_bytes(model->shape(), remembers ? std::min(tokens, segment) : tokens);
  std::cout << nlohmann::json{{"loaded_bytes", loaded},
                              {"state_bytes", remembers ? segments->state_bytes() : state},
                              {"predicted_bytes", loaded + state * (remembers ? 2 : 1) + passing},
                              {"peak_bytes", process_memory(getpid()).peak_bytes},
                              {"own_peak", own_peak},
                              {"seconds", static_cast<double>(monotonic_ns() - begin_ns) / 1e9}}
                   .dump()
            << "\n";
  return 0;
}
