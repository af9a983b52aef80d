// Training: what a method that learns is given, and what it gives back.
//
// A training cell (recipe, splits, seed) is run by a TrainingSession in a host; the driver keeps
// the files that it makes and hands them, by role, to the sessions that predict
// (SessionRequest::artifacts). Plain data but for the two interfaces, which are not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/result.h"

namespace qfs {

/// Examples with their references: the only place where a method may learn from them.
struct TrainingData {
  std::vector<NumberedExample> train;        ///< in the data set's order
  std::vector<NumberedExample> development;  ///< what chooses; may be empty
};

/// One point of the training curve.
struct TrainingPoint {
  int64_t step = 0;   ///< optimiser steps that are done
  int64_t steps = 0;  ///< of the whole recipe
  /// "loss", "learning_rate", "gradient_norm", "tokens" (read up to here), "development.loss",
  /// "loss.PART" …; finite.
  std::map<std::string, double> values;

  friend bool operator==(const TrainingPoint&, const TrainingPoint&) = default;
};

class TrainingProgress {
 public:
  virtual ~TrainingProgress() = default;
  /// An error ends the training; what its last checkpoint holds is kept.
  virtual Status point(const TrainingPoint& point) = 0;
};

struct FitRequest {
  /// Exists and is this training's alone: checkpoints and artifacts lie here. What an earlier call
  /// with the same recipe left, killed at any moment, is continued to the same bytes.
  std::string folder;
  std::string training_cell;  ///< the cell's id in hex, for the metadata of artifacts
  /// Ends after so many optimiser steps of this call, with a checkpoint; absent: at the end.
  std::optional<int64_t> steps;
};

/// A file that training made.
struct TrainedFile {
  std::string role;    ///< as Needs::artifacts names it
  std::string name;    ///< in FitRequest::folder
  std::string sha256;  ///< of its bytes
  int64_t bytes = 0;

  friend bool operator==(const TrainedFile&, const TrainedFile&) = default;
};

/// What training took in all calls together. Times and memory are the machine's, the rest the
/// recipe's.
struct TrainingCost {
  double seconds = 0;  ///< inside steps and evaluations
  int64_t steps = 0;
  int64_t tokens = 0;  ///< that steps read
  int64_t flops = 0;
  int64_t trainable_parameters = 0;
  int64_t peak_bytes = 0;  ///< of the host's memory

  friend bool operator==(const TrainingCost&, const TrainingCost&) = default;
};

struct TrainingOutcome {
  std::vector<TrainedFile> files;  ///< one a role; empty: FitRequest::steps ended it
  TrainingCost cost;
};

class TrainingSession {
 public:
  virtual ~TrainingSession() = default;
  /// `data` for examples that cannot be learnt from, naming them; `internal` for a loss that is no
  /// number, with its step.
  virtual Result<TrainingOutcome> fit(const FitRequest& request, const TrainingData& data,
                                      TrainingProgress& progress) = 0;
};

}  // namespace qfs
