// Base64 (RFC 4648, standard alphabet), as tokenizer files hold tables and pieces. Pure;
// thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace qfs::tokenizers {

/// std::nullopt when the text is no base64, padding included.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace qfs::tokenizers
