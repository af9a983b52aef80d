// The tokenizers without a vocabulary: `words` and `characters`.
//
// Made by open_tokenizer. Stateless; thread-safe; cannot fail on well-formed UTF-8.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "harness/api/method.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

/// The resource of a built-in tokenizer: `words` (maximal runs of characters that are not white
/// space, Unicode White_Space) or `characters` (code points); std::nullopt for any other name.
std::optional<Resource> builtin_tokenizer(std::string_view name);

/// The tokenizer called `name`, or nullptr.
std::shared_ptr<const Tokenizer> make_builtin_tokenizer(std::string_view name);

}  // namespace qfs::tokenizers
