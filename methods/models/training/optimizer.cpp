#include "methods/models/training/optimizer.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <vector>

namespace qfs::training {

namespace {

double rate_factor(const Recipe& recipe, const std::string& name) {
  for (const auto& [prefix, factor] : recipe.rate_factors) {
    if (name.starts_with(prefix)) return factor;
  }
  return 1;
}

}  // namespace

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

void TrainedTensors::step(const Recipe& recipe, int64_t step, double gradient_scale,
                          const TookPart& took_part) {
  const c10::AutoGradMode without_gradients(false);
  if (gradient_scale != 1) gradients_.mul_(gradient_scale);
  const double rate = learning_rate_at(recipe, step);
  if (recipe.weight_decay != 0) {
    // Biases and scales of norms, which have one dimension, do not decay.
    for (const auto& [name, tensor] : tensors_) {
      if (tensor.dim() < 2 || (took_part && !took_part(name))) continue;
      tensor.detach().mul_(1 - rate * rate_factor(recipe, name) * recipe.weight_decay);
    }
  }
  for (const Run& run : runs(recipe, step, took_part)) {
    if (run.steps > 0) move(recipe, rate, run);
  }
}

void TrainedTensors::move(const Recipe& recipe, double rate, const Run& run) {
  const auto of_run = [&](const at::Tensor& all) {
    return all.narrow(0, run.all.first, run.all.count);
  };
  const at::Tensor gradients = of_run(gradients_);
  at::Tensor second = of_run(second_);
  of_run(first_).lerp_(gradients, 1 - recipe.beta1);
  second.mul_(recipe.beta2).addcmul_(gradients, gradients, 1 - recipe.beta2);
  const auto count = static_cast<double>(run.steps);
  const double first_bias = 1 - std::pow(recipe.beta1, count);
  const double second_bias = 1 - std::pow(recipe.beta2, count);
  const double early = recipe.epsilon_first ? recipe.epsilon : 0;
  const double late = recipe.epsilon_first ? 0 : recipe.epsilon;
  at::Tensor divisor = second.sqrt();
  if (early != 0) divisor.add_(early);
  divisor.div_(std::sqrt(second_bias));
  if (late != 0) divisor.add_(late);
  for (const auto& [factor, some] : run.rates) {
    values_.narrow(0, some.first, some.count)
        .addcdiv_(first_.narrow(0, some.first, some.count),
                  divisor.narrow(0, some.first - run.all.first, some.count),
                  -rate * factor / first_bias);
  }
}

std::vector<TrainedTensors::Run> TrainedTensors::runs(const Recipe& recipe, int64_t step,
                                                      const TookPart& took_part) {
  std::vector<Run> all;
  int64_t first = 0;
  for (const auto& [name, tensor] : tensors_) {
    const bool in_it = !took_part || took_part(name);
    if (!in_it) ++passed_[name];
    const auto passed = passed_.find(name);
    const int64_t steps = in_it ? step + 1 - (passed == passed_.end() ? 0 : passed->second) : 0;
    const double factor = rate_factor(recipe, name);
    if (all.empty() || all.back().steps != steps) all.push_back({steps, {first, 0}, {}});
    Run& run = all.back();
    if (run.rates.empty() || run.rates.back().first != factor) {
      run.rates.push_back({factor, {first, 0}});
    }
    run.all.count += tensor.numel();
    run.rates.back().second.count += tensor.numel();
    first += tensor.numel();
  }
  return all;
}

}  // namespace qfs::training
