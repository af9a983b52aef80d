// DYLE's trained file: one safetensors file with the low-rank matrices of both models, the score
// head and the gate, by the names of DyleTensors::all().
//
// Written by training, read by prediction and by trainings that begin with it. Thread-safe.
#pragma once

#include <map>
#include <string>

#include "methods/dyle/session_model.h"

namespace qfs::dyle {

/// New tensors for two models, as a cell's parameters ask. `not_found`: targets that a model lacks.
Result<DyleTensors> new_tensors(const Params& params, uint64_t seed, const DyleModel& model,
                                const nn::Decoder& decoder);

/// Bytes of a file; equal tensors give equal bytes.
std::string artifact_bytes(const DyleTensors& tensors, const std::string& extractor_digest,
                           std::map<std::string, std::string> metadata, at::ScalarType type);

/// Reads a file that artifact_bytes made. `data`: another file, one of other models, or one without
/// a gate where `needs_gate`.
Result<DyleTensors> read_artifact(const std::string& path, const SessionRequest& request,
                                  bool needs_gate);

/// Puts the values of a file into tensors of the same shapes: one of DYLE, or an adapter of the
/// generator alone in PEFT's form, as `lora` trains. `invalid_argument` says where they differ.
Status begin_with(const std::string& path, const SessionRequest& request, DyleTensors& tensors);

}  // namespace qfs::dyle
