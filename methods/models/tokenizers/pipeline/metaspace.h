// SentencePiece's sign for a space, in vocabularies and in the tokenizer.json made of them.
//
// Used by the models, normalizers and decoders that know it.
#pragma once

#include <string_view>

namespace qfs::tokenizers {

/// U+2581.
inline constexpr std::string_view kMetaspace = "\u2581";

}  // namespace qfs::tokenizers
