// GPT-2 checkpoints as a Network.
//
// Called by architectures.h. Thread-safe.
#pragma once

#include <memory>

#include "methods/backbones/gpt2/gpt2_config.h"
#include "methods/backbones/model_outline.h"
#include "methods/backbones/network.h"
#include "methods/checkpoints/model_directory.h"

namespace qfs::backbones {

/// Errors as read_gpt2_config.
Result<ModelOutline> outline_gpt2_folder(const checkpoints::ModelDirectory& directory);

/// Errors as load_gpt2_weights.
Result<std::shared_ptr<const Network>> load_gpt2_folder(
    const checkpoints::ModelDirectory& directory);

}  // namespace qfs::backbones
