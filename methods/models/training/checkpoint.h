// Checkpoint of a training: everything that it needs to go on to the same bits, in one safetensors
// file that is replaced whole.
//
// Written and read by the trainer. Functions are thread-safe; a crash leaves the old file or the
// new one.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "harness/api/training.h"
#include "methods/models/training/optimizer.h"

namespace qfs::training {

/// What is not a tensor.
struct TrainingState {
  std::string identity;
  int64_t step = 0;                 ///< steps that are done
  bool ended = false;               ///< early, for want of progress
  std::optional<double> best_loss;  ///< of development; of a score that chooses, its negative
  int64_t since_best = 0;           ///< evaluations, or since the last halving
  int64_t halvings = 0;             ///< of the learning rate
  TrainingCost cost;
  std::vector<TrainingPoint> curve;
};

struct TrainingCheckpoint {
  TrainingState state;
  at::Tensor best;  ///< as TrainedTensors::values
};

Status write_checkpoint(const std::string& folder, const TrainingCheckpoint& checkpoint,
                        TrainedTensors& trained);

/// Puts back what was written; nothing where there is no checkpoint. `data`: a damaged file, or one
/// of another training.
Result<std::optional<TrainingCheckpoint>> read_checkpoint(const std::string& folder,
                                                          const std::string& identity,
                                                          TrainedTensors& trained);

}  // namespace qfs::training
