// TrainedTensors: the parameters that training changes, one flat float32 vector behind all of them,
// with their gradients and AdamW's moments.
//
// Owned by the trainer; methods take `tensors()` as leaves of their graphs. Not thread-safe;
// LibTorch's exceptions pass through. Source: Kingma & Ba 2015; Loshchilov & Hutter 2019, in the
// order of operations of torch.optim.AdamW.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "methods/models/training/recipe.h"

namespace qfs::training {

using NamedTensors = std::map<std::string, at::Tensor>;

/// Whether a tensor had a part in what the gradients of a step are of; empty: all have.
using TookPart = std::function<bool(const std::string& name)>;

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
  /// One step (from 0) with the gradients times `gradient_scale`. A tensor that took no part is
  /// left as it is, moments and count of steps included, as torch.optim leaves one without a
  /// gradient.
  void step(const Recipe& recipe, int64_t step, double gradient_scale,
            const TookPart& took_part = {});

  /// Steps that tensors took no part in, by name; tensors without any are not in it. Part of a
  /// checkpoint.
  std::map<std::string, int64_t>& steps_passed() { return passed_; }

  // One vector each: what a checkpoint holds.
  at::Tensor& values() { return values_; }
  at::Tensor& first_moments() { return first_; }
  at::Tensor& second_moments() { return second_; }

 private:
  /// Elements beside one another.
  struct Stretch {
    int64_t first = 0;
    int64_t count = 0;
  };
  /// Of tensors that have taken part in so many steps, this one included; 0: not in this one.
  struct Run {
    int64_t steps = 0;
    Stretch all;
    std::vector<std::pair<double, Stretch>> rates;  ///< factors of the rate, and whose
  };
  std::vector<Run> runs(const Recipe& recipe, int64_t step, const TookPart& took_part);
  void move(const Recipe& recipe, double rate, const Run& run);

  NamedTensors tensors_;
  at::Tensor values_;
  at::Tensor gradients_;
  at::Tensor first_;
  at::Tensor second_;
  std::map<std::string, int64_t> passed_;
};

}  // namespace qfs::training
