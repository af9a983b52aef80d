#include "methods/models/peft/infini.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <cmath>
#include <span>

#include "harness/core/rng.h"

namespace qfs::peft {

namespace {

constexpr std::string_view kPrefix = "llama.layers.";
constexpr std::string_view kBeta = ".attention.gate";
constexpr std::string_view kWeight = ".attention.gate_memory.weight";
constexpr std::string_view kBias = ".attention.gate_memory.bias";

std::string name_of(int64_t layer, std::string_view end) {
  return std::string(kPrefix).append(std::to_string(layer)).append(end);
}

}  // namespace

bool is_memory_tensor(std::string_view name) {
  return name.starts_with(kPrefix) &&
         (name.ends_with(kBeta) || name.ends_with(kWeight) || name.ends_with(kBias));
}

InfiniTensors new_memory(const nn::DecoderShape& shape, double beta, bool query_focused, bool bias,
                         uint64_t seed) {
  InfiniTensors tensors;
  const double bound = 1 / std::sqrt(static_cast<double>(shape.head_dim));
  const auto drawn = [&](const std::string& name, std::vector<int64_t> sizes) {
    const at::Tensor tensor = at::empty(sizes, at::kFloat);
    Rng rng = Rng::derived(seed, "infini:" + name);
    for (float& value :
         std::span(tensor.mutable_data_ptr<float>(), static_cast<size_t>(tensor.numel()))) {
      value = static_cast<float>((2 * rng.uniform() - 1) * bound);
    }
    tensors[name] = tensor;
  };
  for (int64_t i = 0; i < shape.layers; ++i) {
    tensors[name_of(i, kBeta)] = at::full({1, shape.heads, 1, 1}, beta, at::kFloat);
    if (!query_focused) continue;
    drawn(name_of(i, kWeight), {1, shape.head_dim});
    if (bias) drawn(name_of(i, kBias), {1});
  }
  return tensors;
}

double mean_share(const InfiniTensors& tensors) {
  double sum = 0;
  int64_t heads = 0;
  for (const auto& [name, tensor] : tensors) {
    if (!name.ends_with(kBeta)) continue;
    sum += tensor.detach().to(at::kDouble).sigmoid().sum().item<double>();
    heads += tensor.numel();
  }
  return heads == 0 ? 0 : sum / static_cast<double>(heads);
}

Status begin_memory(const InfiniTensors& other, const std::string& source, InfiniTensors& memory) {
  const auto differs = [&](const std::string& how) {
    return invalid_argument("cannot begin with '" + source + "': " + how);
  };
  if (other.empty()) return {};
  if (memory.empty()) return differs("it has a memory, which the training does not");
  for (auto& [name, tensor] : memory) {
    const auto its = other.find(name);
    if (its == other.end() || its->second.sizes() != tensor.sizes()) {
      return differs("its memory has no '" + name + "' like the training's");
    }
    tensor = its->second;
  }
  for (const auto& [name, tensor] : other) {
    if (!memory.contains(name))
      return differs("its memory has '" + name + "', which the training's has not");
  }
  return {};
}

Result<std::vector<nn::InfiniScalars>> memory_scalars(const InfiniTensors& tensors,
                                                      const nn::DecoderShape& shape,
                                                      bool query_focused,
                                                      const std::string& source) {
  size_t used = 0;
  const auto of = [&](int64_t layer, std::string_view end) {
    const auto found = tensors.find(name_of(layer, end));
    if (found == tensors.end()) return at::Tensor();
    ++used;
    return found->second.view({-1});
  };
  std::vector<nn::InfiniScalars> layers;
  for (int64_t i = 0; i < shape.layers; ++i) {
    nn::InfiniScalars scalars{of(i, kBeta), {}, {}};
    if (query_focused) scalars = {scalars.beta, of(i, kWeight), of(i, kBias)};
    if (!scalars.beta.defined() || (query_focused && !scalars.weight.defined())) {
      return data_error("no '" + name_of(i, scalars.beta.defined() ? kWeight : kBeta) +
                            "', which a memory has in every layer",
                        source);
    }
    layers.push_back(std::move(scalars));
  }
  if (used == tensors.size()) return layers;
  for (const auto& [name, tensor] : tensors) {
    const bool of_query = name.ends_with(kWeight) || name.ends_with(kBias);
    if (of_query && !query_focused) {
      return data_error("'" + name + "' is of a query-focused memory, which was not asked for",
                        source);
    }
  }
  return data_error("a memory of more layers than the backbone's " + std::to_string(shape.layers),
                    source);
}

}  // namespace qfs::peft
