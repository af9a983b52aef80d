// qfs_bench_ideal: a training step and a generation of IDEAL-LoRA beside those of LoRA of the same
// rank, the hypernetwork's work included. Rounds take turns, so that a busy neighbour meets both
// alike.
//
//   qfs_bench_ideal MODEL THREADS DTYPE TOKENS ROUNDS   MODEL: a registered name, a GGUF file, a
//                                                       folder; DTYPE: in which training computes
//     -> {"step_s": {"lora": [seconds of each round], "ideal": […]}, "generation_s": {…}}
//
// A step is of one example of TOKENS tokens with 96 labels; a generation reads as many and writes
// 48.
#include <algorithm>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "harness/core/clock.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/decoding/generator.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/peft/hyper_network.h"
#include "methods/models/peft/lora.h"
#include "methods/models/registry/registry.h"
#include "methods/models/training/sequence_task.h"
#include "methods/models/training/trainer.h"
#include "tests/bench/bench_model.h"

namespace {

using namespace qfs;  // NOLINT: a program of one file

constexpr int64_t kRank = 8;
constexpr int64_t kLabels = 96;
constexpr int64_t kNewTokens = 48;

using test::must;
using test::value_or_exit;

/// Two ways of the same work, in turns.
struct Pair {
  std::function<void()> lora;
  std::function<void()> ideal;
};

nlohmann::json timed(const Pair& pair, int64_t rounds) {
  std::vector<double> lora;
  std::vector<double> ideal;
  const auto seconds = [](const std::function<void()>& work) {
    const int64_t begin_ns = monotonic_ns();
    work();
    return static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
  };
  pair.lora();
  pair.ideal();
  for (int64_t round = 0; round < rounds; ++round) {
    lora.push_back(seconds(pair.lora));
    ideal.push_back(seconds(pair.ideal));
  }
  return {{"lora", lora}, {"ideal", ideal}};
}

/// A prompt whose query stands in front.
nn::SequenceInput prompt_of(int64_t tokens) {
  nn::SequenceInput input;
  for (int64_t i = 0; i < tokens; ++i) {
    input.ids.push_back(static_cast<int32_t>((i * 7919 + i * i % 1009) % 40000 + 100));
  }
  input.query = {24, 20};
  return input;
}

training::LabelledSequence example_of(int64_t tokens) {
  training::LabelledSequence made{prompt_of(tokens), {}};
  for (int64_t i = 0; i < tokens; ++i) {
    const bool counts = i + 1 < tokens && i + 1 >= tokens - kLabels;
    made.labels.push_back(counts ? made.input.ids[static_cast<size_t>(i + 1)] : nn::kNoLabel);
  }
  return made;
}

/// One step after the other on one example, of tensors that a callback makes into adapters.
std::function<void()> steps_of(const std::shared_ptr<const nn::Decoder>& decoder,
                               const nn::ModelWork& work, int64_t tokens,
                               std::shared_ptr<training::TrainedTensors> trained,
                               decltype(training::SequenceTraining::adapters) adapters) {
  training::SequenceTraining training{
      .decoder = decoder, .work = work, .train = {example_of(tokens)}};
  training.adapters = std::move(adapters);
  auto task =
      std::make_shared<training::TrainingTask>(training::sequence_task(std::move(training)));
  return [task, trained, step = int64_t{0}]() mutable {
    training::Recipe recipe;
    recipe.steps = 1 << 20;
    const int64_t item = 0;
    trained->zero_gradients();
    value_or_exit(task->backward({&item, 1}, 1.0 / kLabels, step));
    trained->step(recipe, step++, 1);
  };
}

class Bench {
 public:
  Bench(std::shared_ptr<const architectures::Backbone> backbone, RuntimeOptions runtime,
        const std::string& dtype)
      : backbone_(std::move(backbone)), runtime_(runtime) {
    runtime.dtype = dtype;
    decoder_ = value_or_exit(backbone_->network->decoder(runtime, backbone_->digest, cache_));
    work_ = backbone_->network->work(backbone_->network->element_bytes(runtime));
    const nn::LayerWidths& widths = decoder_->shape().sequence.widths;
    peft::LayerAdapterConfig config{.size = kRank, .targets = {}, .hyper = {}};
    config.hyper.layers = widths.layers / 2;
    must(peft::check_config(config, widths));
    ideal_ = peft::new_layer_adapter(config, widths, 0);
    lora_ = value_or_exit(
        peft::new_lora(peft::adaptable_layers(*decoder_),
                       {.rank = kRank,
                        .alpha = kRank,
                        .targets = {"q_proj", "k_proj", "v_proj", "o_proj", "up_proj"}},
                       0));
  }

  Pair training(int64_t tokens) {
    auto of_lora = std::make_shared<training::TrainedTensors>(peft::matrices_of(lora_));
    peft::replace_matrices(of_lora->tensors(), lora_);
    auto of_ideal = std::make_shared<training::TrainedTensors>(ideal_.tensors);
    for (auto& [name, tensor] : ideal_.tensors) tensor = of_ideal->tensors().at(name);
    return {
        steps_of(decoder_, work_, tokens, of_lora,
                 [this](std::span<const training::GraphRow> rows) -> Result<training::RowAdapters> {
                   auto bound = nn::bind_adapters({.linears = lora_.layers}, *decoder_);
                   if (!bound.ok()) return bound.error();
                   return training::RowAdapters(rows.size(), *std::move(bound));
                 }),
        steps_of(decoder_, work_, tokens, of_ideal,
                 [this](std::span<const training::GraphRow> rows) -> Result<training::RowAdapters> {
                   auto made = generated(rows.front().sequence.input,
                                         {.bind =
                                              [&](const nn::AdapterSet& set) {
                                                return nn::bind_adapters(set, *decoder_);
                                              },
                                          .stream =
                                              [&](size_t layer, const nn::SequenceInput& input) {
                                                return nn::stream_before(*decoder_, input, layer);
                                              }},
                                         Rng::derived(0, "dropout", rows.front().draw.value_or(0)));
                   if (!made.ok()) return made.error();
                   return training::RowAdapters(rows.size(), *std::move(made));
                 })};
  }

  Pair generation(int64_t tokens) {
    auto model = value_or_exit(backbone_->network->open(runtime_, backbone_->digest, cache_));
    auto generator = std::make_shared<decoding::Generator>(backbone_->tokenizer, std::move(model));
    decoding::DecodingOptions options;
    options.max_new_tokens = kNewTokens;
    options.ignore_stops = true;
    const auto write = [=](std::shared_ptr<const nn::Adapters> adapters) {
      nn::SequenceInput input = prompt_of(tokens);
      input.adapters = std::move(adapters);
      value_or_exit(generator->generate({&input, 1}, options));
    };
    return {
        [=, bound = value_or_exit(generator->bind({.linears = lora_.layers}))] { write(bound); },
        [=, this] {
          // As of an instruction that was not met before.
          write(value_or_exit(
              generated(prompt_of(tokens),
                        {.bind = [&](const nn::AdapterSet& set) { return generator->bind(set); },
                         .stream =
                             [&](size_t layer, const nn::SequenceInput& input) {
                               return generator->stream_before(layer, input);
                             }},
                        {})));
        }};
  }

 private:
  Result<std::shared_ptr<const nn::Adapters>> generated(const nn::SequenceInput& input,
                                                        const peft::AdaptedModel& model,
                                                        std::optional<Rng> drop) const {
    const auto prefix = peft::pooled_prefix(input, peft::Pooling::instruction);
    if (!prefix.ok()) return prefix.error();
    return peft::row_adapters(ideal_, *prefix, model, drop);
  }

  std::shared_ptr<const architectures::Backbone> backbone_;
  RuntimeOptions runtime_;
  ResourceCache cache_;
  std::shared_ptr<const nn::Decoder> decoder_;
  nn::ModelWork work_;
  peft::LayerAdapter ideal_;
  peft::LoraAdapter lora_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: qfs_bench_ideal MODEL THREADS DTYPE TOKENS ROUNDS\n";
    return 2;
  }
  RuntimeOptions runtime;
  runtime.threads = std::atoi(argv[2]);
  must(nn::configure_torch(runtime));
  const int64_t tokens = std::atoll(argv[4]);
  const int64_t rounds = std::atoll(argv[5]);
  const auto resource = value_or_exit(registry::resolve_backbone(argv[1]));
  Bench bench(value_or_exit(architectures::open_backbone(resource)), runtime, argv[3]);
  // Generation first: gradients are on from the first step on.
  const nlohmann::json generations = timed(bench.generation(tokens), rounds);
  const nlohmann::json steps = timed(bench.training(tokens), rounds);
  std::cout << nlohmann::json{{"step_s", steps}, {"generation_s", generations}}.dump(2) << "\n";
  return 0;
}
