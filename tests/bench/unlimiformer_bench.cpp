// qfs_bench_unlimiformer: a BART of random weights in bart-base's shape that reads a source of any
// length: time, memory beside what is predicted, and how far cross-attention over all states is
// from LibTorch's over keys and values.
//
//   qfs_bench_unlimiformer TOKENS THREADS RETRIEVED
//     -> {"tokens": …, "windows": …, "read_seconds": …, "step_ms": …, "index_bytes": …,
//         "held_bytes": …, "peak_bytes": …, "of_full_keys_values": …,
//         "largest_relative_difference": …}
//
// "held_bytes" and "peak_bytes" are what the process holds more after reading, and at most while it
// reads, than after having read one window, "peak_bytes" null where Linux does not reset peaks;
// "of_full_keys_values" is index_bytes by the bytes of every layer's keys and values. step_ms is a
// median of ten. The difference is of all layers, of the largest output of each.
#include <ATen/ATen.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "harness/core/child_process.h"
#include "harness/core/clock.h"
#include "methods/models/architectures/bart/bart.h"
#include "methods/models/nn/runtime/tensor_arena.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/step_model.h"
#include "methods/unlimiformer/session_index.h"
#include "methods/unlimiformer/session_network.h"
#include "methods/unlimiformer/windows.h"
#include "tests/bench/bench_model.h"
#include "tests/support/random_bart.h"

namespace {

using namespace qfs;  // NOLINT: a program of one file

using test::must;
using test::value_or_exit;

/// After what idles was given back.
ProcessMemory held_memory() {
  malloc_trim(0);
  nn::use_tensor_arena();
  return process_memory(getpid());
}

nn::SequenceInput source_of(int64_t tokens) {
  nn::SequenceInput input;
  for (int64_t i = 0; i < tokens; ++i) {
    input.ids.push_back(static_cast<int32_t>((i * 7919 + i * i % 1009) % 50000 + 100));
  }
  return input;
}

/// Of cross-attention over all states, by the index and by every layer's keys and values.
double largest_relative_difference(const nn::Decoder& decoder,
                                   const architectures::BartWeights& weights,
                                   const at::Tensor& states) {
  const nn::DecoderShape& shape = decoder.shape();
  double largest = 0;
  for (size_t layer = 0; layer < weights.layers.size(); ++layer) {
    const std::vector<unlimiformer::HeadProjections> own(
        layer + 1, unlimiformer::head_projections(weights.layers[layer].cross_key_value,
                                                  shape.heads, nullptr));
    const unlimiformer::SourceIndex index(states, own, states.size(0));
    const at::Tensor queries = at::randn({shape.heads, shape.head_dim});
    const at::Tensor both = decoder.source_keys_values(layer, states.unsqueeze(0), nullptr);
    const at::Tensor expected = at::scaled_dot_product_attention(
                                    queries.view({1, shape.heads, 1, shape.head_dim}),
                                    both.select(0, 0).unsqueeze(0), both.select(0, 1).unsqueeze(0))
                                    .view({shape.heads, shape.head_dim});
    const at::Tensor difference = (index.attend(layer, queries) - expected).abs().max();
    largest = std::max(largest, (difference / expected.abs().max()).item<double>());
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: qfs_bench_unlimiformer TOKENS THREADS RETRIEVED\n";
    return 2;
  }
  const int64_t tokens = std::atoll(argv[1]);
  RuntimeOptions runtime;
  runtime.threads = std::atoi(argv[2]);
  const unlimiformer::Retrieval retrieval = {std::atoll(argv[3]), 0.5};
  must(nn::configure_torch(runtime));
  const auto weights = test::random_bart(test::bart_base_shape());
  const auto decoder = architectures::make_bart_decoder(weights);
  const int64_t window = decoder->shape().sequence.source_context;
  nn::StepModel model(decoder, value_or_exit(unlimiformer::retrieving_sources(decoder, retrieval)));
  std::vector<float> logits(static_cast<size_t>(model.shape().vocabulary));
  constexpr int64_t kSteps = 10;
  must(model.begin(1, kSteps + 1));
  must(model.prefill(0, source_of(window), logits));
  must(model.begin(1, kSteps + 1));
  const ProcessMemory before = held_memory();
  const bool own_peak = reset_own_peak_memory();
  const nn::SequenceInput source = source_of(tokens);
  const int64_t begin_ns = monotonic_ns();
  must(model.prefill(0, source, logits));
  const double read_seconds = static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
  const int64_t peak = process_memory(getpid()).peak_bytes - before.resident_bytes;
  const int64_t held = held_memory().anonymous_bytes - before.anonymous_bytes;
  std::vector<double> steps;
  for (int64_t i = 0; i < kSteps; ++i) {
    const int64_t row = 0;
    const auto token = static_cast<int32_t>(300 + i);
    const int64_t step_ns = monotonic_ns();
    must(model.decode({&row, 1}, {&token, 1}, logits));
    steps.push_back(static_cast<double>(monotonic_ns() - step_ns) / 1e6);
  }
  std::ranges::sort(steps);
  must(model.begin(1, kSteps + 1));
  const int64_t hidden = decoder->hidden();
  const int64_t index_bytes = tokens * hidden * static_cast<int64_t>(sizeof(float));
  // What the comparison reads need not be what an encoder says, only as much of it.
  const double difference =
      largest_relative_difference(*decoder, *weights, at::randn({tokens, hidden}));
  const nlohmann::json report = {
      {"tokens", tokens},
      {"windows", unlimiformer::windows_of(tokens, window, retrieval.overlap).size()},
      {"read_seconds", read_seconds},
      {"step_ms", steps[steps.size() / 2]},
      {"index_bytes", index_bytes},
      {"held_bytes", held},
      {"peak_bytes", own_peak ? nlohmann::json(peak) : nlohmann::json()},
      {"of_full_keys_values", 1.0 / static_cast<double>(2 * decoder->shape().layers)},
      {"largest_relative_difference", difference}};
  std::cout << report.dump(1) << "\n";
  return 0;
}
