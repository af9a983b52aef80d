// LLaMA-type checkpoints as a Network: the fast forward pass on a CPU, the general one elsewhere.
//
// Called by architectures.h and tests. Thread-safe.
#pragma once

#include <memory>

#include "methods/backbones/llama/llama_weights.h"
#include "methods/backbones/model_outline.h"
#include "methods/backbones/network.h"
#include "methods/checkpoints/gguf.h"
#include "methods/checkpoints/model_directory.h"

namespace qfs::backbones {

SequenceShape shape_of(const LlamaConfig& config);

std::shared_ptr<const Network> make_llama_network(std::shared_ptr<const LlamaWeights> weights);

/// Errors as read_llama_config.
Result<ModelOutline> outline_llama_folder(const checkpoints::ModelDirectory& directory);
Result<ModelOutline> outline_llama_gguf(const std::shared_ptr<const checkpoints::GgufFile>& file);

/// Errors as load_llama_weights.
Result<std::shared_ptr<const Network>> load_llama_folder(
    const checkpoints::ModelDirectory& directory);
Result<std::shared_ptr<const Network>> load_llama_gguf(
    const std::shared_ptr<const checkpoints::GgufFile>& file);

}  // namespace qfs::backbones
