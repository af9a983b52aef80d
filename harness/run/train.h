// Running the cells that train: what a store has of them, and training what is missing, before any
// cell that predicts with their files is surveyed.
//
// Used by run_plan and reuse_of only. A training that fails is a CellOutcome; an Error means that
// the store cannot go on.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/plan/identity.h"
#include "harness/run/cell_run.h"

namespace qfs::run {

/// How a training is computed here.
Result<plan::NumericsIdentity> training_numerics(const plan::Training& training,
                                                 HostLauncher& launcher);

/// Trained files by role.
using TrainedFiles = std::map<std::string, Resource>;

/// What a store has of a training.
struct StoredTraining {
  std::optional<store::ResultId> result;  ///< none: of another store
  TrainedFiles files;                     ///< as it recorded them
  bool there = false;                     ///< all lie where it says, with their digests
};

/// Names the files that trainings of the plan have made for the cell.
void name_files(plan::Cell& cell, const TrainedFiles& files);

/// As it is computed by `numerics` or, with `any_way`, in whatever way: one whose files are there
/// before one whose are not; none where it is not complete.
Result<std::optional<StoredTraining>> stored_training(store::Reader& reader,
                                                      const std::string& store_path,
                                                      const plan::Cell& cell,
                                                      const NumericsId& numerics, bool any_way);

/// Whether it left something to continue from: a checkpoint, or some of its files.
bool is_begun(const std::string& store_path, const plan::Cell& cell, const NumericsId& numerics);

/// Where a training stands after `train_all`.
struct TrainingState {
  /// None where the training that it begins with is not complete.
  std::optional<store::ResultId> result;
  CellOutcome outcome;
  TrainedFiles files;  ///< when it is complete: as the store recorded them
  /// Whether they are there, or nothing is left to do with them; otherwise nothing may begin with
  /// them: what was trained again may not be what was recorded.
  bool usable = false;
};

/// Puts the trainings into the store and trains those that are not complete there, until a signal;
/// by training. One whose files are gone is not trained again for cells and trainings that are
/// complete.
Result<std::vector<TrainingState>> train_all(const RunContext& context, const RunOptions& options);

}  // namespace qfs::run
