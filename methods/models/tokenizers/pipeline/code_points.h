// Code points of UTF-8 text and the character classes that tokenizer.json's parts are defined by.
//
// Used by normalizers, pre-tokenizers and added tokens. Pure; thread-safe; ill-formed bytes read as
// U+FFFD of one unit. The classes are those of the libraries behind Hugging Face tokenizers 0.23,
// found by asking them for every code point: parts of it still carry Unicode 8 and 9 tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace qfs::tokenizers {

/// The code point at `position` (inside the text), which moves behind it.
char32_t next_code_point(std::string_view text, size_t& position);
void append_code_point(std::string& text, char32_t c);

bool is_ascii(std::string_view text);
/// White_Space.
bool is_white_space(char32_t c);
/// General categories N*.
bool is_number(char32_t c);
/// ASCII punctuation and symbols, and P* of Unicode 8.
bool is_punctuation(char32_t c);
/// Cc, Cf and Co of Unicode 8, without tab, line feed and carriage return.
bool is_bert_control(char32_t c);
/// Mn of Unicode 8: what BertNormalizer strips.
bool is_nonspacing_mark(char32_t c);
/// M* of Unicode 9: what StripAccents strips.
bool is_combining_mark(char32_t c);
/// The CJK blocks that BertNormalizer puts spaces around.
bool is_chinese(char32_t c);
/// Letters, marks, digits, connectors and joiners: \w of the Rust regex crate.
bool is_word_character(char32_t c);
/// Whether the code point was assigned in that version of Unicode.
bool assigned_in(char32_t c, int major_version);

}  // namespace qfs::tokenizers
