#include "methods/models/training/optimizer.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <vector>

namespace qfs::training {

TrainedTensors::TrainedTensors(const NamedTensors& initial) {
  const c10::AutoGradMode without_gradients(false);
  std::vector<at::Tensor> flat;
  for (const auto& [name, tensor] : initial) flat.push_back(tensor.detach().flatten());
  values_ = at::cat(flat);
  gradients_ = at::zeros_like(values_);
  first_ = at::zeros_like(values_);
  second_ = at::zeros_like(values_);
  int64_t first = 0;
  for (const auto& [name, tensor] : initial) {
    const auto part = [&](const at::Tensor& all) {
      return all.narrow(0, first, tensor.numel()).view(tensor.sizes()).detach();
    };
    at::Tensor leaf = part(values_);
    leaf.set_requires_grad(true);
    leaf.mutable_grad() = part(gradients_);
    tensors_.emplace(name, std::move(leaf));
    first += tensor.numel();
  }
}

double TrainedTensors::gradient_norm() const { return gradients_.norm().item<double>(); }

void TrainedTensors::step(const Recipe& recipe, int64_t step, double gradient_scale) {
  const c10::AutoGradMode without_gradients(false);
  if (gradient_scale != 1) gradients_.mul_(gradient_scale);
  const double rate = learning_rate_at(recipe, step);
  const auto count = static_cast<double>(step + 1);
  if (recipe.weight_decay != 0) {
    // Biases and scales of norms, which have one dimension, do not decay.
    for (const auto& [name, tensor] : tensors_) {
      if (tensor.dim() > 1) tensor.detach().mul_(1 - rate * recipe.weight_decay);
    }
  }
  first_.lerp_(gradients_, 1 - recipe.beta1);
  second_.mul_(recipe.beta2).addcmul_(gradients_, gradients_, 1 - recipe.beta2);
  const double first_bias = 1 - std::pow(recipe.beta1, count);
  const double second_bias = 1 - std::pow(recipe.beta2, count);
  const at::Tensor divisor = second_.sqrt().div_(std::sqrt(second_bias)).add_(recipe.epsilon);
  values_.addcdiv_(first_, divisor, -rate / first_bias);
}

}  // namespace qfs::training
