// GPT-2 checkpoints as a Network.
//
// Called by architectures.h. Thread-safe.
#pragma once

#include <memory>

#include "methods/models/architectures/gpt2/gpt2_config.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/model_outline.h"
#include "methods/models/nn/network.h"

namespace qfs::backbones {

/// Errors as read_gpt2_config.
Result<ModelOutline> outline_gpt2_folder(const checkpoints::ModelDirectory& directory);

/// Errors as load_gpt2_weights.
Result<std::shared_ptr<const Network>> load_gpt2_folder(
    const checkpoints::ModelDirectory& directory);

}  // namespace qfs::backbones
