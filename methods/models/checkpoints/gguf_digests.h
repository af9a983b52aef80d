// Digests of the parts of a GGUF file that are declared apart from its weights: tokenizer and chat
// template.
//
// Called when a resource is registered and when a host verifies it. Pure; thread-safe.
#pragma once

#include <string>

#include "methods/models/checkpoints/gguf.h"

namespace qfs::checkpoints {

/// SHA-256 over the `tokenizer.*` entries except the chat template, in key order, each as the key's
/// length (uint64), key, type (uint32), the value's length (uint64) and its bytes as stored,
/// little-endian. Equal for two files exactly when they tokenise alike.
std::string tokenizer_digest(const GgufFile& file);

/// SHA-256 of the text of `tokenizer.chat_template`; empty when the file has none.
std::string chat_template_digest(const GgufFile& file);

}  // namespace qfs::checkpoints
