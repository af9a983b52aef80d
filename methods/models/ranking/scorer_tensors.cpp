#include "methods/models/ranking/scorer_tensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <utility>

#include "harness/core/rng.h"
#include "methods/models/ranking/scorer_params.h"

namespace qfs::ranking {

namespace {

constexpr std::string_view kPrefix = "extractor.";
constexpr std::string_view kDownEnd = ".lora_A.weight";
constexpr std::string_view kUpEnd = ".lora_B.weight";

}  // namespace

training::NamedTensors ScorerTensors::all() const {
  training::NamedTensors tensors = head;
  put_matrices(kPrefix, adapter, tensors);
  for (const auto& [name, tensor] : weights) tensors[std::string(kPrefix) + name] = tensor;
  return tensors;
}

void ScorerTensors::replace(const training::NamedTensors& leaves) {
  for (auto& [name, tensor] : head) tensor = leaves.at(name);
  take_matrices(kPrefix, leaves, adapter);
  for (auto& [name, tensor] : weights) tensor = leaves.at(std::string(kPrefix) + name);
}

bool ScorerTensors::place(const std::string& name, const at::Tensor& values) {
  if (name == "classifier.weight" || name == "classifier.bias" || name == kSimilarity) {
    head[name] = values;
    return true;
  }
  return place_matrix(kPrefix, name, values, adapter);
}

Status ScorerTensors::complete(double scale, const std::string& path) {
  if (!head.contains("classifier.weight") || !head.contains("classifier.bias")) {
    return data_error("the score head is not whole", path);
  }
  return complete_matrices(scale, path, adapter);
}

training::NamedTensors new_head(const Params& params, int64_t width, uint64_t seed) {
  training::NamedTensors head;
  add_linear("classifier", 1, width, seed, head);
  if (scores_by_similarity(params)) head[kSimilarity] = at::full({1}, 5.0);
  return head;
}

Result<ScorerTensors> new_scorer_tensors(const SnippetScorer& scorer, const Params& params,
                                         const peft::LoraConfig& config, uint64_t seed) {
  auto adapter = peft::new_lora(scorer.layers(), config, seed);
  if (!adapter.ok()) return adapter.error();
  return ScorerTensors{*std::move(adapter), new_head(params, scorer.width(), seed)};
}

void add_linear(const std::string& name, int64_t outputs, int64_t inputs, uint64_t seed,
                training::NamedTensors& tensors) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  const auto drawn = [&](const std::string& tensor, at::IntArrayRef shape) {
    const at::Tensor values = at::empty(shape, at::kFloat);
    Rng rng = Rng::derived(seed, "dyle:" + tensor);
    float* value = values.mutable_data_ptr<float>();
    for (int64_t i = 0; i < values.numel(); ++i) {
      value[i] = static_cast<float>((2 * rng.uniform() - 1) * bound);
    }
    tensors[tensor] = values;
  };
  drawn(name + ".weight", {outputs, inputs});
  drawn(name + ".bias", {outputs});
}

void put_matrices(std::string_view prefix, const peft::LoraAdapter& from,
                  training::NamedTensors& to) {
  for (const auto& [name, tensor] : peft::matrices_of(from))
    to[std::string(prefix) + name] = tensor;
}

void take_matrices(std::string_view prefix, const training::NamedTensors& from,
                   peft::LoraAdapter& to) {
  training::NamedTensors own;
  for (const auto& [name, tensor] : peft::matrices_of(to)) {
    own[name] = from.at(std::string(prefix) + name);
  }
  peft::replace_matrices(own, to);
}

bool place_matrix(std::string_view prefix, const std::string& name, const at::Tensor& values,
                  peft::LoraAdapter& to) {
  if (!name.starts_with(prefix)) return false;
  std::string layer = name.substr(prefix.size());
  const bool down = layer.ends_with(kDownEnd);
  if (!down && !layer.ends_with(kUpEnd)) return false;
  layer.resize(layer.size() - (down ? kDownEnd : kUpEnd).size());
  (down ? to.layers[layer].down : to.layers[layer].up) = values;
  return true;
}

Status complete_matrices(double scale, const std::string& path, peft::LoraAdapter& adapter) {
  for (auto& [layer, added] : adapter.layers) {
    added.scale = scale;
    if (added.down.defined() && added.up.defined()) continue;
    return data_error("'" + layer + "' has only one of two matrices", path);
  }
  return {};
}

Status check_same_score(const ScorerTensors& given, const std::string& path,
                        const ScorerTensors& own) {
  if (given.head.contains(kSimilarity) == own.head.contains(kSimilarity)) return {};
  return invalid_argument("cannot begin with '" + path + "': its training's 'score' is another");
}

at::Tensor target_loss(const at::Tensor& scores, std::span<const int64_t> targets) {
  if (targets.empty()) return at::zeros({}, scores.options());
  const at::Tensor wanted = at::tensor(at::ArrayRef<int64_t>(targets.data(), targets.size()));
  return -at::log_softmax(scores, 0).index_select(0, wanted.to(scores.device())).mean();
}

}  // namespace qfs::ranking
