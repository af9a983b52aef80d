// The memory that a cell's parameters ask for, of trained scalars.
//
// Used by sessions that train or predict with one. Pure; thread-safe.
#pragma once

#include <memory>
#include <string>

#include "harness/api/method.h"
#include "methods/models/nn/infini_memory.h"
#include "methods/models/peft/infini.h"
#include "methods/models/prompted/prompted_model.h"

namespace qfs::prompted {

/// The scalars that training begins with; none without a memory.
peft::InfiniTensors first_memory(const Params& params, const nn::DecoderShape& shape,
                                 uint64_t seed);

/// What a training's graphs read by: segments of `train_segment` tokens. Errors as
/// peft::memory_scalars and nn::bind_memory.
Result<std::shared_ptr<const nn::InfiniMemory>> trained_memory(const Params& params,
                                                               const peft::InfiniTensors& tensors,
                                                               const nn::Decoder& decoder);

/// What makes the memory that a cell writes with, of the scalars in the file at `path`: segments of
/// `local_context` tokens; nothing where the cell asks for none. `data` where the file has one and
/// the cell asks for none; what is made fails as trained_memory.
Result<MakeMemory> written_memory(const Params& params, const peft::InfiniTensors& tensors,
                                  const std::string& path);

}  // namespace qfs::prompted
