#include "methods/models/tokenizers/pipeline/code_points.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>

namespace qfs::tokenizers {

namespace {

uint32_t category_mask(char32_t c) { return U_GET_GC_MASK(static_cast<UChar32>(c)); }

}  // namespace

char32_t next_code_point(std::string_view text, size_t& position) {
  const auto first = static_cast<uint8_t>(text[position]);
  if (first < 0x80) {
    ++position;
    return first;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  UChar32 code_point = 0;
  U8_NEXT(bytes, position, text.size(), code_point);
  return code_point < 0 ? U'\uFFFD' : static_cast<char32_t>(code_point);
}

void append_code_point(std::string& text, char32_t c) {
  char bytes[4];
  int32_t length = 0;
  U8_APPEND_UNSAFE(reinterpret_cast<uint8_t*>(bytes), length, c);
  text.append(bytes, static_cast<size_t>(length));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0;
}

bool is_number(char32_t c) { return (category_mask(c) & U_GC_N_MASK) != 0; }

bool assigned_in(char32_t c, int major_version) {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0] > 0 && age[0] <= major_version;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80)
    return (c > ' ' && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') ||
           (c > 'z' && c < 0x7F);
  // Two that were punctuation in Unicode 8 and are not any more.
  if (c == 0x166D || c == 0x111C9) return true;
  return (category_mask(c) & U_GC_P_MASK) != 0 && assigned_in(c, 8);
}

bool is_bert_control(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  if (c < 0x80) return c < ' ' || c == 0x7F;
  return (category_mask(c) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) != 0 &&
         assigned_in(c, 8);
}

bool is_nonspacing_mark(char32_t c) {
  if (c < 0x300) return false;
  if (c == 0x1734) return true;  // Mc since Unicode 14
  return (category_mask(c) & U_GC_MN_MASK) != 0 && assigned_in(c, 8);
}

bool is_combining_mark(char32_t c) {
  if (c < 0x300) return false;
  if (c == 0x1CF2 || c == 0x1CF3) return true;  // letters since Unicode 12
  return (category_mask(c) & U_GC_M_MASK) != 0 && assigned_in(c, 9);
}

bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_word_character(char32_t c) {
  if (c < 0x80)
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
  if (c == 0x200C || c == 0x200D) return true;
  return (category_mask(c) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0 ||
         u_isUAlphabetic(static_cast<UChar32>(c)) != 0;
}

}  // namespace qfs::tokenizers
