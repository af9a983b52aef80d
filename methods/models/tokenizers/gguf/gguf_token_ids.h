// Ids of tokens that a GGUF file names in its metadata, such as the end of sequence.
//
// Used by the openers of GGUF tokenizers. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/checkpoints/gguf.h"

namespace qfs::tokenizers {

/// The id under `key`; std::nullopt when the file has no such key. `data`: not an integer, or none
/// of the `pieces` of the vocabulary.
Result<std::optional<int32_t>> read_token_id(const checkpoints::GgufFile& file,
                                             std::string_view key, size_t pieces);

}  // namespace qfs::tokenizers
