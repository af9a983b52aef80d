// What is trained of a scorer of snippets: the low-rank matrices of its encoder and the score head,
// by their names in trained files, and its loss.
//
// Used by the sessions and trainings of dyle and locator. Functions are pure and thread-safe.
// LibTorch's exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/peft/lora.h"
#include "methods/models/ranking/scorer.h"
#include "methods/models/training/optimizer.h"

namespace qfs::ranking {

/// Float32 on the CPU.
struct ScorerTensors {
  peft::LoraAdapter adapter;
  training::NamedTensors head;  ///< of SnippetScorer::scores
  /// Where all of the encoder is trained: SnippetScorer::weights.
  nn::WeightsByName weights = {};

  /// "classifier.weight", "extractor.LAYER.lora_A.weight" …, as in a file; weights as
  /// "extractor.NAME".
  training::NamedTensors all() const;
  void replace(const training::NamedTensors& leaves);

  /// Puts a tensor of a file where its name belongs; false: nowhere.
  bool place(const std::string& name, const at::Tensor& values);
  /// Behind the last: sets the matrices' scale. `data`: a matrix or half of the head is missing;
  /// `path` names the file.
  Status complete(double scale, const std::string& path);
};

/// A new head of an encoder of width d: "classifier.weight" and its bias as of add_linear, and,
/// where the parameter `score` asks for it, the similarity's factor. It begins at 5, near which it
/// stays at the usual rates: with 20, as sentence-transformers trains such models, the first loss
/// on DYLE's oracle of eight QMSum meetings, four chunks each, was 4.09, with 5 it was 3.33.
training::NamedTensors new_head(const Params& params, int64_t width, uint64_t seed);

/// New ones: matrices as of new_lora, and a head. `not_found`: layers that the encoder lacks.
Result<ScorerTensors> new_scorer_tensors(const SnippetScorer& scorer, const Params& params,
                                         const peft::LoraConfig& config, uint64_t seed);

/// "NAME.weight" [outputs, inputs] and "NAME.bias", as torch initializes a linear layer: uniform
/// below 1 / sqrt(inputs). A pure function of seed and names.
void add_linear(const std::string& name, int64_t outputs, int64_t inputs, uint64_t seed,
                training::NamedTensors& tensors);

// Low-rank matrices under a prefix: "PREFIXLAYER.lora_A.weight".
void put_matrices(std::string_view prefix, const peft::LoraAdapter& from,
                  training::NamedTensors& to);
void take_matrices(std::string_view prefix, const training::NamedTensors& from,
                   peft::LoraAdapter& to);
/// As ScorerTensors::place and complete.
bool place_matrix(std::string_view prefix, const std::string& name, const at::Tensor& values,
                  peft::LoraAdapter& to);
Status complete_matrices(double scale, const std::string& path, peft::LoraAdapter& adapter);

/// `invalid_argument`: a training of `own` cannot go on with `given`, which scores otherwise.
Status check_same_score(const ScorerTensors& given, const std::string& path,
                        const ScorerTensors& own);

/// Mean over the targets of the cross-entropy of softmax(scores [L]); zero without targets (Mao et
/// al. 2022, equation 6).
at::Tensor target_loss(const at::Tensor& scores, std::span<const int64_t> targets);

}  // namespace qfs::ranking
