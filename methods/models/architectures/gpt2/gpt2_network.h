// GPT-2 checkpoints as a Network.
//
// Called by architectures.h. Thread-safe.
#pragma once

#include <memory>

#include "methods/models/architectures/gpt2/gpt2_config.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/model_outline.h"
#include "methods/models/nn/network.h"

namespace qfs::architectures {

/// Errors as read_gpt2_config.
Result<nn::ModelOutline> outline_gpt2_folder(const checkpoints::ModelDirectory& directory);

/// Errors as load_gpt2_weights.
Result<std::shared_ptr<const nn::Network>> load_gpt2_folder(
    const checkpoints::ModelDirectory& directory);

}  // namespace qfs::architectures
