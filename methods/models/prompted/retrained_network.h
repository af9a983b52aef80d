// A backbone's network over other weights of its shape: what training left of a backbone whose file
// (GGUF) is no folder that could hold them, or beside adapters.
//
// Used by open_backbone, dyle and ideal. Thread-safe.
#pragma once

#include <functional>
#include <memory>

#include "harness/api/method.h"
#include "harness/api/result.h"
#include "methods/models/checkpoints/checkpoint.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/network.h"

namespace qfs::prompted {

/// Role of a file with all weights of the request's backbone, which stand in the place of its own.
inline constexpr const char* kWeightsRole = "weights";

/// A decoder over other values of the weights of one, which is float32 on the CPU.
using ChangeWeights =
    std::function<Result<std::shared_ptr<const nn::Decoder>>(const nn::Decoder& own)>;

/// A network that computes in float32 or bfloat16 with the weights that `change` gives its own
/// decoder, by what `file` says. Errors of `change`.
Result<std::shared_ptr<const nn::Network>> retrained(std::shared_ptr<const nn::Network> network,
                                                     const ChangeWeights& change,
                                                     const Resource& file);

/// `file`: safetensors with the names of transformers. Errors of the file; `data` where its tensors
/// are not those of `network`.
Result<std::shared_ptr<const nn::Network>> retrained(std::shared_ptr<const nn::Network> network,
                                                     const Resource& file);
/// The same of tensors that are part of such a file.
Result<std::shared_ptr<const nn::Network>> retrained(
    std::shared_ptr<const nn::Network> network,
    std::shared_ptr<const checkpoints::Checkpoint> tensors, const Resource& file);

}  // namespace qfs::prompted
