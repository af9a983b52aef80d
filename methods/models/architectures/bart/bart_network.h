// Checkpoints of the BART family (BART, LED, PRIMERA, mBART, PEGASUS) as a Network.
//
// Called by architectures.h. Thread-safe.
#pragma once

#include <memory>

#include "methods/models/architectures/bart/bart_config.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/model_outline.h"
#include "methods/models/nn/network.h"

namespace qfs::architectures {

/// Errors as read_bart_config.
Result<nn::ModelOutline> outline_bart_folder(const checkpoints::ModelDirectory& directory);

/// Errors as load_bart_weights.
Result<std::shared_ptr<const nn::Network>> load_bart_folder(
    const checkpoints::ModelDirectory& directory);

}  // namespace qfs::architectures
