// The reversible byte-to-character alphabet of GPT-2's tokenizer: printable Latin-1 bytes stand for
// themselves, the 68 others for U+0100, U+0101, … in order of their value.
//
// Used by byte-level BPE. Pure; thread-safe. Source: Radford et al. 2019, encoder.py
// bytes_to_unicode.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace qfs::tokenizers {

/// The UTF-8 text that stands for one byte in a vocabulary.
std::string alphabet_character(uint8_t byte);

/// The bytes that a piece stands for. A character outside the alphabet stands for its own UTF-8
/// bytes.
std::string alphabet_bytes(std::string_view piece);

}  // namespace qfs::tokenizers
