// LLaMA-type checkpoints as a Network: the fast forward pass on a CPU, the general one elsewhere.
//
// Called by architectures.h and tests. Thread-safe.
#pragma once

#include <memory>

#include "methods/models/architectures/llama/llama_weights.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/model_outline.h"
#include "methods/models/nn/network.h"

namespace qfs::architectures {

nn::SequenceShape shape_of(const LlamaConfig& config);

std::shared_ptr<const nn::Network> make_llama_network(std::shared_ptr<const LlamaWeights> weights);

/// Errors as read_llama_config.
Result<nn::ModelOutline> outline_llama_folder(const checkpoints::ModelDirectory& directory);
Result<nn::ModelOutline> outline_llama_gguf(
    const std::shared_ptr<const checkpoints::GgufFile>& file);

/// Errors as load_llama_weights.
Result<std::shared_ptr<const nn::Network>> load_llama_folder(
    const checkpoints::ModelDirectory& directory);
Result<std::shared_ptr<const nn::Network>> load_llama_gguf(
    const std::shared_ptr<const checkpoints::GgufFile>& file);

}  // namespace qfs::architectures
