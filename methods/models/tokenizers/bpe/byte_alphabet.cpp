#include "methods/models/tokenizers/bpe/byte_alphabet.h"

#include <unicode/utf8.h>

#include <array>

namespace qfs::tokenizers {

namespace {

constexpr bool stands_for_itself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<uint16_t, 256> character{};  // of a byte
  std::array<int16_t, 324> byte{};        // of a character below 256 + 68; -1: none
};

constexpr Alphabet kAlphabet = [] {
  Alphabet alphabet;
  alphabet.byte.fill(-1);
  uint16_t next = 256;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint16_t character = stands_for_itself(byte) ? static_cast<uint16_t>(byte) : next++;
    alphabet.character[byte] = character;
    alphabet.byte[character] = static_cast<int16_t>(byte);
  }
  return alphabet;
}();

}  // namespace

std::string alphabet_character(uint8_t byte) {
  const uint16_t character = kAlphabet.character[byte];
  if (character < 0x80) return std::string(1, static_cast<char>(character));
  return {static_cast<char>(0xC0 | (character >> 6)), static_cast<char>(0x80 | (character & 0x3F))};
}

std::string alphabet_bytes(std::string_view piece) {
  std::string bytes;
  const auto* data = reinterpret_cast<const uint8_t*>(piece.data());
  const auto size = static_cast<int64_t>(piece.size());
  for (int64_t position = 0; position < size;) {
    const int64_t begin = position;
    UChar32 character = 0;
    U8_NEXT(data, position, size, character);
    const bool known = character >= 0 && static_cast<size_t>(character) < kAlphabet.byte.size() &&
                       kAlphabet.byte[static_cast<size_t>(character)] >= 0;
    if (known) {
      bytes += static_cast<char>(kAlphabet.byte[static_cast<size_t>(character)]);
    } else {
      bytes += piece.substr(static_cast<size_t>(begin), static_cast<size_t>(position - begin));
    }
  }
  return bytes;
}

}  // namespace qfs::tokenizers
