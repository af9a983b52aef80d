// The architectures that this program generates text with, as checkpoints name them.
//
// Called by the registry, whose answer enters ids (MethodSpec::layers), and by the loaders, which
// choose the code. A new architecture is a row in architecture.cpp and one in
// architectures/architectures.cpp. Pure; thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/model_directory.h"

namespace qfs::checkpoints {

struct Architecture {
  std::string_view name;                          ///< of the folder with its code, as in layers
  std::span<const std::string_view> model_types;  ///< `model_type` of config.json
  std::string_view gguf_name;                     ///< `general.architecture`; empty: not read
};

/// All, by name.
std::span<const Architecture> architectures();

/// The architecture of a checkpoint. `unavailable`: none of them, the message names those that
/// are; `data`: the checkpoint does not say.
Result<const Architecture*> architecture_of(const ModelDirectory& directory);
Result<const Architecture*> architecture_of(const GgufFile& file);

/// Tokens that it was trained to read at once, of an encoder-decoder its encoder; 0: it does not
/// say.
Result<int64_t> context_of(const ModelDirectory& directory);
Result<int64_t> context_of(const GgufFile& file);

/// The same of an encoder-decoder's decoder; 0 for other models.
Result<int64_t> decoder_context_of(const ModelDirectory& directory);
Result<int64_t> decoder_context_of(const GgufFile& file);

}  // namespace qfs::checkpoints
