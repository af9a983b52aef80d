// qfs_bench_infini: a step of generation with a compressive memory beside one of full attention
// that sees as many tokens as the window has, on the same path. Rounds take turns, so that a busy
// neighbour meets all alike.
//
//   qfs_bench_infini MODEL THREADS WINDOW ROUNDS   MODEL: a registered name, a GGUF file, a folder
//     -> {"full_ms": [milliseconds of each round], "infini_ms": […], "qf_infini_ms": […]}
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "harness/core/clock.h"
#include "methods/models/nn/steps/segment_model.h"
#include "methods/models/nn/steps/step_model.h"
#include "tests/bench/bench_model.h"

namespace {

using namespace qfs;  // NOLINT: a program of one file

using test::value_or_exit;

std::shared_ptr<const nn::InfiniMemory> memory_of(const nn::Decoder& decoder, int64_t window,
                                                  bool query_focused) {
  std::vector<nn::InfiniScalars> layers;
  for (int64_t i = 0; i < decoder.shape().layers; ++i) {
    nn::InfiniScalars scalars{at::full({decoder.shape().heads}, -3.0), {}, {}};
    if (query_focused) {
      scalars.weight = at::zeros({decoder.shape().head_dim});
      scalars.bias = at::zeros({1});
    }
    layers.push_back(std::move(scalars));
  }
  return value_or_exit(nn::bind_memory({.segment = window, .query_focused = query_focused},
                                       std::move(layers), decoder));
}

/// A row of a model that has read a prompt.
class Row {
 public:
  Row(std::unique_ptr<nn::SequenceModel> model, int64_t prompt, int64_t steps)
      : model_(std::move(model)), logits_(static_cast<size_t>(model_->shape().vocabulary)) {
    nn::SequenceInput input{.query = {4, 8}};
    for (int64_t i = 0; i < prompt; ++i) {
      input.ids.push_back(static_cast<int32_t>((i * 7919 + i * i % 1009) % 40000 + 100));
    }
    must(model_->begin(1, prompt + steps));
    must(model_->prefill(0, input, logits_));
  }

  double milliseconds_a_step(int64_t steps) {
    const int64_t begin_ns = monotonic_ns();
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t row = 0;
      const int32_t token = 300;
      must(model_->decode({&row, 1}, {&token, 1}, logits_));
    }
    return static_cast<double>(monotonic_ns() - begin_ns) / 1e6 / static_cast<double>(steps);
  }

 private:
  static void must(const Status& status) {
    if (status.ok()) return;
    std::cerr << status.error().to_string() << "\n";
    std::exit(1);
  }

  std::unique_ptr<nn::SequenceModel> model_;
  std::vector<float> logits_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: qfs_bench_infini MODEL THREADS WINDOW ROUNDS\n";
    return 2;
  }
  const int64_t window = std::atoll(argv[3]);
  const int64_t rounds = std::atoll(argv[4]);
  test::BenchModel model(argv[1], argv[2]);
  const auto decoder = model.reader();
  constexpr int64_t kSteps = 4;
  const int64_t steps = (rounds + 1) * kSteps;
  // Full attention sees the window's length on average.
  std::vector<Row> rows;
  rows.emplace_back(std::make_unique<nn::StepModel>(decoder), window - steps / 2, steps);
  for (const bool query_focused : {false, true}) {
    rows.emplace_back(
        std::make_unique<nn::SegmentModel>(decoder, memory_of(*decoder, window, query_focused)),
        window + window / 4, steps);
  }
  std::vector<std::vector<double>> times(rows.size());
  for (Row& row : rows) row.milliseconds_a_step(kSteps);
  for (int64_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < rows.size(); ++i) {
      times[i].push_back(rows[i].milliseconds_a_step(kSteps));
    }
  }
  std::cout << nlohmann::json{{"full_ms", times[0]},
                              {"infini_ms", times[1]},
                              {"qf_infini_ms", times[2]}}
                   .dump(2)
            << "\n";
  return 0;
}
