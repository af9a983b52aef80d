// qfs_bench_training: times steps of training on command, one JSON line in, one out, so that
// lora_vs_peft.py and led_vs_transformers.py can interleave it with their peers in one run.
//
//   qfs_bench_training MODEL THREADS DTYPE   MODEL: a registered name, a GGUF file or a folder
//   {"tokens": 1024, "labels": 128, "rank": 8, "recompute": false, "steps": 3}
//     -> {"seconds": [… a step], "losses": […], "peak_bytes": …, "gemm_flops": …, "flops": …}
//
// Without "rank" all weights are trained. The sequence is of pseudo-random ids from a rule that
// both programs share; its last tokens are labelled. An encoder-decoder reads all of it, the first
// one with global attention where there is such, and learns to write the labelled tokens.
// `gemm_flops`: the rate of matrix products in the shapes of the model's weights.
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "harness/core/child_process.h"
#include "harness/core/clock.h"
#include "methods/models/inspect/machine_limits.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/nn/trained_weights.h"
#include "methods/models/peft/lora.h"
#include "methods/models/training/sequence_task.h"
#include "methods/models/training/trainer.h"
#include "tests/bench/bench_model.h"

namespace {

using nlohmann::json;

using qfs::test::value_or_exit;

qfs::training::LabelledSequence sequence(const qfs::nn::SequenceShape& shape, int64_t tokens,
                                         int64_t labels) {
  qfs::training::LabelledSequence made;
  std::vector<int32_t>& ids = made.input.ids;
  for (int64_t i = 0; i < tokens; ++i) {
    ids.push_back(static_cast<int32_t>((i * 7919 + i * i % 1009) % 40000 + 100));
  }
  if (shape.encoder_decoder()) {
    if (shape.global_attention) made.input.global_positions = {0};
    made.input.decoder_ids = shape.decoder_start;
    made.input.decoder_ids.insert(made.input.decoder_ids.end(), ids.end() - labels, ids.end() - 1);
    made.labels.assign(shape.decoder_start.size() - 1, qfs::nn::kNoLabel);
    made.labels.insert(made.labels.end(), ids.end() - labels, ids.end());
    return made;
  }
  for (int64_t i = 0; i < tokens; ++i) {
    const bool counts = i + 1 < tokens && i + 1 >= tokens - labels;
    made.labels.push_back(counts ? ids[static_cast<size_t>(i + 1)] : qfs::nn::kNoLabel);
  }
  return made;
}

class Bench {
 public:
  Bench(std::shared_ptr<const qfs::nn::Decoder> decoder, qfs::nn::ModelWork work,
        qfs::RuntimeOptions runtime)
      : decoder_(std::move(decoder)), work_(std::move(work)), runtime_(std::move(runtime)) {}

  json run(const json& task) {
    qfs::peft::LoraAdapter adapter;
    if (task.contains("rank")) adapter = new_adapter(task.at("rank"));
    qfs::training::TrainedTensors trained(task.contains("rank") ? qfs::peft::matrices_of(adapter)
                                                                : qfs::nn::weights_of(*decoder_));
    qfs::training::SequenceTraining training = {
        .decoder = decoder_,
        .work = work_,
        .train = {sequence(decoder_->shape().sequence, task.at("tokens"), task.at("labels"))}};
    if (task.contains("rank")) {
      qfs::peft::replace_matrices(trained.tensors(), adapter);
    } else {
      training.trained = [&] { return now_ = qfs::nn::with_weights(*decoder_, trained.tensors()); };
    }
    training.adapters = [&](std::span<const qfs::training::GraphRow> rows)
        -> qfs::Result<qfs::training::RowAdapters> {
      if (!task.contains("rank")) return qfs::training::RowAdapters(rows.size());
      auto bound = qfs::nn::bind_adapters({.linears = adapter.layers}, *decoder_);
      if (!bound.ok()) return bound.error();
      return qfs::training::RowAdapters(rows.size(), *std::move(bound));
    };
    if (task.at("recompute")) training.recompute = qfs::nn::Recompute::layers;
    const qfs::training::TrainingTask learned = qfs::training::sequence_task(std::move(training));
    json seconds = json::array();
    json losses = json::array();
    qfs::reset_own_peak_memory();
    qfs::training::Recipe recipe;
    recipe.steps = 1000;
    const int64_t item = 0;
    for (int64_t step = 0; step < task.at("steps"); ++step) {
      const int64_t begin_ns = qfs::monotonic_ns();
      trained.zero_gradients();
      const auto labels = static_cast<double>(learned.items.front().labels);
      const auto loss = value_or_exit(learned.backward({&item, 1}, 1 / labels, step));
      trained.step(recipe, step, 1);
      seconds.push_back(static_cast<double>(qfs::monotonic_ns() - begin_ns) / 1e9);
      losses.push_back(loss.loss / labels);
    }
    const int64_t peak = qfs::process_memory(getpid()).peak_bytes;
    const auto limits =
        value_or_exit(qfs::inspect::measure_limits(work_.input.matrices, runtime_)).limits();
    return {{"seconds", seconds},
            {"losses", losses},
            {"peak_bytes", peak},
            {"gemm_flops", limits.gemm_flops},
            {"flops", learned.items.front().flops}};
  }

 private:
  qfs::peft::LoraAdapter new_adapter(int64_t rank) const {
    const qfs::peft::LoraConfig config = {
        .rank = rank,
        .alpha = static_cast<double>(rank),
        .targets = {"q_proj", "k_proj", "v_proj", "o_proj", "up_proj"}};
    return value_or_exit(qfs::peft::new_lora(qfs::peft::adaptable_layers(*decoder_), config, 0));
  }

  std::shared_ptr<const qfs::nn::Decoder> decoder_;
  std::shared_ptr<const qfs::nn::Decoder> now_;  ///< over trained weights
  qfs::nn::ModelWork work_;
  qfs::RuntimeOptions runtime_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: qfs_bench_training MODEL THREADS DTYPE\n";
    return 2;
  }
  qfs::test::BenchModel model(argv[1], argv[2], argv[3]);
  const qfs::nn::Network& network = *model.backbone->network;
  Bench bench(model.trained(), network.work(network.element_bytes(model.runtime)), model.runtime);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << bench.run(json::parse(line)).dump() << std::endl;
  }
  return 0;
}
