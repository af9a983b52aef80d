// The training session of methods that train a backbone or what is added to it: what its examples
// are made into, the recipe of their parameters, the loop, and what the kept file says of itself.
//
// Opened by the sessions of such methods (lora), which say what is trained: a TrainedAdapter. Not
// thread-safe. Errors: those of the backbone and of training (training/trainer.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "methods/models/prompted/prompted_model.h"
#include "methods/models/prompted/tensor_training.h"
#include "methods/models/training/sequence_task.h"

namespace qfs::prompted {

/// What of a method is trained, float32 on the CPU.
class TrainedAdapter {
 public:
  virtual ~TrainedAdapter() = default;
  /// With the values that training begins with.
  virtual training::NamedTensors tensors() const = 0;
  /// Puts leaves in their place.
  virtual void replace(const training::NamedTensors& leaves) = 0;
  /// SequenceTraining::adapters; of none where rows read something else.
  virtual Result<training::RowAdapters> adapters(std::span<const training::GraphRow> rows) {
    return training::RowAdapters(rows.size());
  }
  /// SequenceTraining::later_adapters.
  virtual Result<training::RowAdapters> later_adapters(const training::GraphRow& /*row*/,
                                                       int64_t /*segments*/) {
    return training::RowAdapters();
  }
  /// Whether rows read something else than their examples (SequenceTraining::read), with losses
  /// that are means of examples.
  virtual bool reads() const { return false; }
  virtual Result<training::ReadRows> read(std::span<const training::GraphRow> /*rows*/) {
    return training::ReadRows();
  }
  /// What is learned of an example, before any step.
  virtual Result<training::LabelledSequence> learned(training::LabelledSequence sequence) const {
    return sequence;
  }
  /// The same, of an example that is at hand.
  virtual Result<training::LabelledSequence> learned_from(
      const Example& /*example*/, training::LabelledSequence sequence) const {
    return learned(std::move(sequence));
  }
  /// More values of the curve, of the step whose gradients were computed last.
  virtual std::map<std::string, double> observed() { return {}; }
  /// Every point of the curve, after a restart those before it once more.
  virtual void told(const TrainingPoint& /*point*/) {}
  /// SequenceTraining::trained; null: the backbone's own weights are frozen.
  virtual std::shared_ptr<const nn::Decoder> decoder() { return nullptr; }
  /// SequenceTraining::matrices_trained.
  virtual bool trains_matrices() const { return false; }
  /// SequenceTraining::memory; null: there is none.
  virtual Result<std::shared_ptr<const nn::InfiniMemory>> memory() {
    return std::shared_ptr<const nn::InfiniMemory>();
  }
  /// Writes the file, rounded to `type`, with `metadata`.
  virtual Result<TrainedFile> keep(const std::string& folder,
                                   const std::map<std::string, std::string>& metadata,
                                   at::ScalarType type) const = 0;
};

/// Where a TrainedAdapter is made: the backbone as it trains, and what the cell asks for.
struct AdapterPlace {
  const SessionRequest& request;
  const Prompts& prompts;
  std::shared_ptr<const nn::Decoder> decoder;
};

using MakeAdapter =
    std::function<Result<std::unique_ptr<TrainedAdapter>>(const AdapterPlace& place)>;

/// How examples are read where it is not as the backbone reads them.
struct ExampleReading {
  Prompts prompts;
  std::function<nn::SourceReadings(std::span<const training::GraphRow> rows)> sources;
  /// SequenceTraining::reading_flops.
  std::function<int64_t(const training::LabelledSequence& sequence)> flops;
};

/// `make` is called by `fit`, `open` for outputs that choose among evaluations. `spec`: the
/// method's, which outlives the session, as `cache` does.
Result<std::unique_ptr<TrainingSession>> open_adapter_training(
    const SessionRequest& request, ResourceCache& cache, const MethodSpec& spec, MakeAdapter make,
    OpenSession open, std::optional<ExampleReading> reading = {});

/// `data` for a file whose metadata name another backbone than the request's; `path` names it.
Status check_backbone(const std::map<std::string, std::string>& metadata,
                      const SessionRequest& request, const std::string& path);

}  // namespace qfs::prompted
