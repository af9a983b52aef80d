// BART-type checkpoints (BART, LED, PRIMERA) as a Network.
//
// Called by architectures.h. Thread-safe.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "methods/backbones/network.h"
#include "methods/checkpoints/model_directory.h"

namespace qfs::backbones {

inline constexpr std::array<std::string_view, 2> kBartModelTypes = {"bart", "led"};

/// Errors as load_bart_weights.
Result<std::shared_ptr<const Network>> load_bart_folder(
    const checkpoints::ModelDirectory& directory);

}  // namespace qfs::backbones
