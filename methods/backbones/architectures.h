// The architectures that this program generates text with, one row each.
//
// Called by Backbone and the model report. A new architecture is a folder below methods/backbones
// and a row here. Pure; thread-safe.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "harness/api/result.h"
#include "methods/backbones/network.h"
#include "methods/checkpoints/gguf.h"
#include "methods/checkpoints/model_directory.h"

namespace qfs::backbones {

using LoadedNetwork = Result<std::shared_ptr<const Network>>;

struct Architecture {
  std::span<const std::string_view> model_types;  ///< `model_type` of config.json
  LoadedNetwork (*load_folder)(const checkpoints::ModelDirectory& directory);
  std::string_view gguf_name;  ///< `general.architecture`; empty: none is read
  LoadedNetwork (*load_gguf)(const std::shared_ptr<const checkpoints::GgufFile>& file);
};

std::span<const Architecture> architectures();

/// Reads the weights of a folder or file. `unavailable`: an architecture that is not listed (the
/// message names those that are), or a feature of it that is not computed; `data`: damaged files;
/// `out_of_memory`.
LoadedNetwork load_network(const checkpoints::ModelDirectory& directory);
LoadedNetwork load_network(const std::shared_ptr<const checkpoints::GgufFile>& file);

}  // namespace qfs::backbones
