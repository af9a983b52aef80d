// DYLE's trained file: one safetensors file with the score head and the gate, and of both models
// low-rank matrices, by the names of DyleTensors::all(), or all weights, by those of the release.
//
// Written by training, read by prediction and by trainings that begin with it. Thread-safe.
#pragma once

#include <map>
#include <string>

#include "methods/dyle/session_model.h"

namespace qfs::dyle {

/// New tensors for two models, as a cell's parameters ask: low-rank matrices, or copies of all
/// weights. `not_found`: targets that a model lacks.
Result<DyleTensors> new_tensors(const Params& params, uint64_t seed, const DyleModel& model,
                                const nn::Decoder& decoder);

/// Bytes of a file; equal tensors give equal bytes.
std::string artifact_bytes(const DyleTensors& tensors, const std::string& extractor_digest,
                           std::map<std::string, std::string> metadata, at::ScalarType type);

/// Reads a file that artifact_bytes made. `data`: another file, or one of other models.
Result<DyleTensors> read_artifact(const std::string& path, const SessionRequest& request);

/// Writes all weights of two models that were trained, with the head and the gate: "roberta.…",
/// "classifier.…", "rag.generator.…", "rag.dynamic_mlp.…". Errors as write_file.
Status write_weights(const std::string& path, const DyleTensors& tensors,
                     const ranking::SnippetScorer& extractor, const nn::Decoder& generator,
                     const std::string& extractor_digest,
                     std::map<std::string, std::string> metadata, at::ScalarType type);

/// What such a file holds.
struct TrainedModels {
  DyleTensors tensors;  ///< head and gate alone
  std::shared_ptr<const ranking::SnippetScorer> extractor;
  std::shared_ptr<const nn::Network> generator;
};

/// Reads one, of this program or of the release, over models of the same shapes. `data` likewise,
/// and for a tensor of neither model. `initial`: it may lack the head.
Result<TrainedModels> read_weights(const Resource& file, const SessionRequest& request,
                                   const DyleModel& model, bool initial = false);

/// What a training of all weights begins with where it is given such a file: its weights and, where
/// it has them, its head and its gate; others are as of new_tensors. `invalid_argument`: it scores
/// otherwise.
Result<DyleTensors> weights_to_begin_with(const Resource& file, const SessionRequest& request,
                                          const DyleModel& model);

/// `data` where a file's gate is not one over states of `width`, or is missing where `needed`.
Status check_gate(const training::NamedTensors& gate, int64_t width, bool needed,
                  const std::string& path);

/// Puts the values of a file into tensors of the same shapes: one of DYLE, or an adapter of the
/// generator alone in PEFT's form, as `lora` trains. `invalid_argument` says where they differ.
Status begin_with(const std::string& path, const SessionRequest& request, DyleTensors& tensors);

}  // namespace qfs::dyle
