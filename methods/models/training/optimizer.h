// TrainedTensors: the parameters that training changes, one flat float32 vector behind all of them,
// with their gradients and AdamW's moments.
//
// Owned by the trainer; methods take `tensors()` as leaves of their graphs. Not thread-safe;
// LibTorch's exceptions pass through. Source: Kingma & Ba 2015; Loshchilov & Hutter 2019, in the
// order of operations of torch.optim.AdamW.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "methods/models/training/recipe.h"

namespace qfs::training {

using NamedTensors = std::map<std::string, at::Tensor>;

class TrainedTensors {
 public:
  /// Begins with these values (float32), on their device.
  explicit TrainedTensors(const NamedTensors& initial);

  /// Leaves that require gradients, views of values().
  const NamedTensors& tensors() const { return tensors_; }
  int64_t count() const { return values_.numel(); }

  void zero_gradients() { gradients_.zero_(); }
  /// Euclidean norm of all gradients.
  double gradient_norm() const;
  /// One step (from 0) with the gradients times `gradient_scale`.
  void step(const Recipe& recipe, int64_t step, double gradient_scale);

  // One vector each: what a checkpoint holds.
  at::Tensor& values() { return values_; }
  at::Tensor& first_moments() { return first_; }
  at::Tensor& second_moments() { return second_; }

 private:
  /// Elements beside one another that learn at the same rate.
  struct Stretch {
    int64_t count = 0;
    double factor = 1;
  };
  std::vector<Stretch> stretches(const Recipe& recipe) const;

  NamedTensors tensors_;
  at::Tensor values_;
  at::Tensor gradients_;
  at::Tensor first_;
  at::Tensor second_;
};

}  // namespace qfs::training
