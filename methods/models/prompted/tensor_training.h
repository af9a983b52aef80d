// Training as all methods here do it: named tensors, the recipe of their parameters, the loop with
// its checkpoints, and what the kept file says of itself.
//
// Called by training sessions (adapter_training.h, dyle, locator). Not thread-safe. Errors: those
// of training (training/trainer.h) and of what is passed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "harness/api/method.h"
#include "methods/models/training/trainer.h"

namespace qfs::prompted {

/// By the parameters of training_params; `examples`: of the training split.
training::Recipe recipe_of(const Params& params, uint64_t seed, size_t examples);

/// Opens a session that writes with a trained file.
using OpenSession =
    std::function<Result<std::unique_ptr<MethodSession>>(const SessionRequest&, ResourceCache&)>;

/// Who writes the outputs that choose among evaluations, where `select_by` asks for it.
struct OutputScoring {
  OpenSession open;
  ResourceCache& cache;
  std::span<const NumberedExample> development;
};

struct TensorTraining {
  training::Recipe recipe;
  training::NamedTensors initial;  ///< float32
  /// Puts leaves in the place of the initial tensors; before make_task.
  std::function<void(const training::NamedTensors& leaves)> replace;
  std::function<Result<training::TrainingTask>()> make_task;
  /// Writes what was trained, which the leaves hold, into a folder, rounded to `type`.
  std::function<Result<TrainedFile>(const std::string& folder,
                                    const std::map<std::string, std::string>& metadata,
                                    at::ScalarType type)>
      keep;
  OutputScoring outputs;
};

/// A file of a training's folder, once it is written.
Result<TrainedFile> kept_file(const std::string& folder, const char* role, const std::string& name);
/// Writes it.
Result<TrainedFile> keep_bytes(const std::string& folder, const char* role, const std::string& name,
                               const std::string& bytes);

/// What a kept file says of itself: method, backbone (of a method without one the first of its
/// models), training cell and recipe.
Result<std::map<std::string, std::string>> file_metadata(const SessionRequest& request,
                                                         const MethodSpec& spec,
                                                         const FitRequest& fit);

Result<TrainingOutcome> fit_tensors(const SessionRequest& request, const MethodSpec& spec,
                                    const FitRequest& fit, const TensorTraining& training,
                                    TrainingProgress& progress);

}  // namespace qfs::prompted
