// DyleModel: what is trained of DYLE over its two models, and what they compute of an example:
// which snippets, in which rows, and the losses.
//
// Made by dyle's sessions. Not thread-safe. Errors name the example where it is at fault.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/method.h"
#include "methods/dyle/rows.h"
#include "methods/dyle/selection.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/ranking/scorer.h"
#include "methods/models/ranking/scorer_tensors.h"

namespace qfs::dyle {

/// Before the names of the generator's tensors.
inline constexpr const char* kGeneratorPrefix = "generator.";

/// The parameters as they are read.
struct Settings {
  explicit Settings(const Params& params);

  bool released = true;
  SelectionRule rule;
  int64_t snippet_tokens = 128;
  ranking::SnippetRule snippets;
  ranking::ChunkRule chunks;
  std::string prompt;
  bool is_static = false;
};

/// What is trained, float32 on the CPU.
struct DyleTensors {
  ranking::ScorerTensors extractor;
  peft::LoraAdapter generator;
  /// Where all weights are trained, the generator's as nn::weights_of names them.
  nn::WeightsByName generator_weights = {};
  training::NamedTensors gate;  ///< empty with a static prior
  std::map<std::string, std::string> metadata = {};

  /// By their names in the artifact: "classifier.weight", "extractor.LAYER.lora_A.weight",
  /// "generator.LAYER.lora_A.weight", "rag.dynamic_mlp.0.weight" …; weights as "extractor.NAME" and
  /// "generator.NAME", which an artifact has under the names of the release.
  training::NamedTensors all() const;
  void replace(const training::NamedTensors& leaves);
};

/// Snippets of an example as the extractor reads them.
struct Candidates {
  std::vector<ranking::Snippet> snippets;
  ranking::PackedSnippets packed;

  int64_t visible() const { return packed.visible(); }
};

/// What the generator reads of selected snippets.
struct GeneratorRows {
  std::vector<nn::SequenceInput> inputs;
  std::map<int64_t, int64_t> kept_tokens = {};  ///< of each snippet that is read
  int64_t cut = 0;                              ///< so many of these have more
  int64_t query_cut = 0;                        ///< so many are read without all of the query
};

class DyleModel {
 public:
  /// Errors of a chat template that is asked for.
  static Result<DyleModel> open(const Params& params,
                                std::shared_ptr<const ranking::SnippetScorer> extractor,
                                std::shared_ptr<const architectures::Backbone> generator);

  /// The same with another extractor: over weights that are trained.
  DyleModel with_extractor(std::shared_ptr<const ranking::SnippetScorer> extractor) const;
  /// Likewise with another generator, of the same tokens.
  DyleModel over(std::shared_ptr<const ranking::SnippetScorer> extractor,
                 std::shared_ptr<const architectures::Backbone> generator) const;

  const Settings& settings() const { return settings_; }
  const ranking::SnippetScorer& extractor() const { return *extractor_; }
  const architectures::Backbone& generator() const { return *generator_; }
  bool encoder_decoder() const { return generator_->network->shape().encoder_decoder(); }

  Result<Candidates> candidates(const Example& example) const;
  /// The kept oracle of an example's first reference. `data`: it has none.
  Result<std::vector<int64_t>> oracle(const Example& example, const Candidates& candidates) const;
  Result<GeneratorRows> rows(const Example& example, const Candidates& candidates,
                             const Selection& selection) const;
  /// What the generator learns to write for an example, at most `most` ids.
  Target target(const std::string& summary, int64_t most) const;

 private:
  explicit DyleModel(const Params& params) : settings_(params) {}

  Settings settings_;
  std::optional<Conversation> chat_ = {};  ///< of prompts; none: they are plain
  std::shared_ptr<const ranking::SnippetScorer> extractor_;
  std::shared_ptr<const architectures::Backbone> generator_;
};

/// The generator's matrices, bound; null where all weights are trained.
Result<std::shared_ptr<const nn::Adapters>> generator_adapters(const DyleTensors& tensors,
                                                               const nn::Decoder& decoder);

/// What a generator computes of a target behind each row.
struct ReadTarget {
  at::Tensor log_probabilities;   ///< of the labels: [K, labelled positions]
  at::Tensor states;              ///< what the head multiplies: [K, T, d]
  std::vector<int64_t> labelled;  ///< of T
};

/// Teacher forcing of all rows; gradients reach the rows' adapters. Errors as nn::sequence_states.
Result<ReadTarget> read_target(const nn::Decoder& decoder, const GeneratorRows& rows,
                               const Target& target, nn::Recompute recompute);

/// The losses of an example.
struct Losses {
  at::Tensor generation;  ///< - sum over labelled positions of the mixture's log-probability
  at::Tensor oracle;
  at::Tensor consistency;
  double gate_entropy = 0;  ///< mean over labelled positions, natural logarithm
};

/// `scores`: of the visible snippets. `prior_gradients`: of a static prior.
Losses losses_of(const Settings& settings, const DyleTensors& tensors, const at::Tensor& scores,
                 std::span<const int64_t> oracle, const Selection& selection,
                 const ReadTarget& read, bool prior_gradients);

}  // namespace qfs::dyle
