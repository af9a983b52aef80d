// The memory that a cell's parameters ask for, of trained scalars.
//
// Used by sessions that train or predict with one. Pure; thread-safe.
#pragma once

#include <memory>
#include <string>

#include "harness/api/method.h"
#include "methods/models/nn/infini_memory.h"
#include "methods/models/peft/infini.h"

namespace qfs::prompted {

/// The scalars that training begins with; none without a memory.
peft::InfiniTensors first_memory(const Params& params, const nn::DecoderShape& shape,
                                 uint64_t seed);

/// Segments of `segment` tokens; `source` names where the scalars are from. Errors as
/// peft::memory_scalars and nn::bind_memory.
Result<std::shared_ptr<const nn::InfiniMemory>> bound_memory(const Params& params, int64_t segment,
                                                             const peft::InfiniTensors& tensors,
                                                             const nn::Decoder& decoder,
                                                             const std::string& source);

}  // namespace qfs::prompted
