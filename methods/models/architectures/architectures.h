// The architectures that this program generates text with, one row each.
//
// Called by Backbone and the model report. A new architecture is a folder beside this file, a row
// in architectures.cpp and one in checkpoints/architecture.cpp. Pure; thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/model_outline.h"
#include "methods/models/nn/network.h"

namespace qfs::architectures {

using GgufPointer = std::shared_ptr<const checkpoints::GgufFile>;
using LoadedNetwork = Result<std::shared_ptr<const nn::Network>>;

struct Loader {
  std::string_view architecture;  ///< its name in checkpoints::architectures()
  Result<nn::ModelOutline> (*outline_folder)(const checkpoints::ModelDirectory& directory);
  LoadedNetwork (*load_folder)(const checkpoints::ModelDirectory& directory);
  // Where the architecture reads GGUF files:
  Result<nn::ModelOutline> (*outline_gguf)(const GgufPointer& file) = nullptr;
  LoadedNetwork (*load_gguf)(const GgufPointer& file) = nullptr;
};

/// Reads the configuration of a folder or file. `unavailable`: an architecture that is not listed
/// (the message names those that are), or a feature of it that is not computed; `data`: damaged
/// files.
Result<nn::ModelOutline> outline_model(const checkpoints::ModelDirectory& directory);
Result<nn::ModelOutline> outline_model(const GgufPointer& file);

/// Reads the weights, too. Errors as outline_model; `out_of_memory`.
LoadedNetwork load_network(const checkpoints::ModelDirectory& directory);
LoadedNetwork load_network(const GgufPointer& file);

}  // namespace qfs::architectures
