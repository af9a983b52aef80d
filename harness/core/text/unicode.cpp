#include "harness/core/text/unicode.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>

namespace qfs {

CodePoint code_point_at(std::string_view text, size_t offset) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  size_t end = offset;
  UChar32 point = 0;
  U8_NEXT_OR_FFFD(bytes, end, text.size(), point);
  return {static_cast<char32_t>(point), end - offset};
}

std::u32string to_code_points(std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    points.push_back(point.value);
    i += point.bytes;
  }
  return points;
}

void append_utf8(char32_t c, std::string& text) {
  char bytes[U8_MAX_LENGTH];
  int32_t size = 0;
  U8_APPEND_UNSAFE(bytes, size, c);
  text.append(bytes, static_cast<size_t>(size));
}

std::string to_utf8(std::u32string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (char32_t c : text) append_utf8(c, bytes);
  return bytes;
}

bool is_python_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0;
}

bool is_letter(char32_t c) { return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_L_MASK) != 0; }

bool is_punctuation(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & (U_GC_P_MASK | U_GC_S_MASK)) != 0;
}

bool is_han(char32_t c) {
  if (c >= 0x4E00 && c <= 0x9FFF) return true;
  UErrorCode status = U_ZERO_ERROR;
  return uscript_getScript(static_cast<UChar32>(c), &status) == USCRIPT_HAN;
}

bool is_upper(char32_t c) {
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_UPPERCASE) != 0;
}

bool is_lower(char32_t c) {
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_LOWERCASE) != 0;
}

std::string_view python_stripped(std::string_view text) {
  size_t begin = text.size();
  size_t end = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    if (!is_python_space(point.value)) {
      begin = std::min(begin, i);
      end = i + point.bytes;
    }
    i += point.bytes;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

bool is_decimal_digit(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return u_charType(static_cast<UChar32>(c)) == U_DECIMAL_DIGIT_NUMBER;
}

bool is_word_character(char32_t c) {
  if (c < 0x80) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  // Python's \w is str.isalnum or '_': letters and every kind of number, but no combining marks.
  return is_letter(c) ||
         u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_NUMERIC_TYPE) != U_NT_NONE;
}

bool is_unicode_word_character(char32_t c) {
  const auto point = static_cast<UChar32>(c);
  return u_isUAlphabetic(point) || u_hasBinaryProperty(point, UCHAR_JOIN_CONTROL) ||
         (U_GET_GC_MASK(point) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
}

PieceKind piece_kind(std::string_view piece) {
  PieceKind kind = PieceKind::space;
  for (size_t i = 0; i < piece.size();) {
    const CodePoint point = code_point_at(piece, i);
    i += point.bytes;
    if (is_python_space(point.value)) continue;
    if (!is_punctuation(point.value)) return PieceKind::word;
    kind = PieceKind::punctuation;
  }
  return kind;
}

}  // namespace qfs
