// The training loop: batches, gradients, optimizer, evaluation on development examples, choice of
// the best, checkpoints from which it goes on to the same bits.
//
// Called by training sessions. Not thread-safe. Gradients are on inside TrainingTask::backward
// alone. LibTorch's exceptions come out as Errors.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/api/training.h"
#include "methods/models/training/optimizer.h"
#include "methods/models/training/recipe.h"

namespace qfs::training {

/// An example as the loop sees it.
struct TrainingItem {
  int64_t tokens = 0;  ///< that a step reads
  int64_t labels = 0;  ///< that its loss is a sum over
  int64_t flops = 0;   ///< of a step with it
};

/// Sums over labels.
struct LossSum {
  double loss = 0;
  int64_t labels = 0;
  /// Of a step, beside what its items say: what it read depends on more than them.
  int64_t tokens = 0;
  int64_t flops = 0;
};

/// What is learned.
struct TrainingTask {
  std::vector<TrainingItem> items;
  /// Adds `scale` times the gradients of the summed loss of these examples to the leaves; `step`,
  /// from 0, is what draws of random numbers depend on.
  std::function<Result<LossSum>(std::span<const int64_t> items, double scale, int64_t step)>
      backward;
  /// More values of the curve, of the step whose gradients were computed last; may be empty.
  std::function<std::map<std::string, double>()> observed;
  /// Of all development examples; empty: there are none, and the last values are the best.
  std::function<Result<LossSum>()> development;
  /// What chooses instead of the development loss, if `of` is not empty: the more, the better.
  struct Score {
    std::string name;  ///< in the curve, behind "development."
    std::function<Result<double>()> of;
  } score = {};
  /// Of the step whose gradients were computed last: a tensor that took no part is passed over
  /// (TrainedTensors::step); empty: all take part in every step.
  TookPart took_part = {};
};

struct TrainingRun {
  std::string folder;            ///< of the checkpoint
  std::string identity;          ///< a checkpoint of another one is refused
  std::optional<int64_t> steps;  ///< FitRequest::steps
  /// A step that ends so long after the last checkpoint, in nanoseconds, writes one of its own.
  int64_t checkpoint_after_ns = 180'000'000'000;
};

struct TrainedModel {
  bool finished = false;
  at::Tensor best;  ///< the values that were chosen, flat as TrainedTensors::values; if finished
  TrainingCost cost;
};

/// Trains `trained` from the folder's checkpoint, or from its own values where there is none. On
/// the way each point of the curve is told, after a restart those before it once more. `data`: a
/// checkpoint that is damaged or of another training; `internal`: a loss or gradient that is not a
/// number, with its step; errors of the task, of files, of `progress`.
Result<TrainedModel> train(const Recipe& recipe, const TrainingTask& task, const TrainingRun& run,
                           TrainedTensors& trained, TrainingProgress& progress);

}  // namespace qfs::training
