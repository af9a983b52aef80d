// Checkpoints of the BART family (BART, LED, PRIMERA, mBART, PEGASUS) as a Network.
//
// Called by architectures.h. Thread-safe.
#pragma once

#include <memory>

#include "methods/backbones/bart/bart_config.h"
#include "methods/backbones/model_outline.h"
#include "methods/backbones/network.h"
#include "methods/checkpoints/model_directory.h"

namespace qfs::backbones {

/// Errors as read_bart_config.
Result<ModelOutline> outline_bart_folder(const checkpoints::ModelDirectory& directory);

/// Errors as load_bart_weights.
Result<std::shared_ptr<const Network>> load_bart_folder(
    const checkpoints::ModelDirectory& directory);

}  // namespace qfs::backbones
