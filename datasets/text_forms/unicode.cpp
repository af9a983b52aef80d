#include "datasets/text_forms/unicode.h"

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <limits>

namespace qfs::datasets {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

icu::StringPiece piece(std::string_view text) {
  return {text.data(),
          static_cast<int32_t>(std::min<size_t>(text.size(), std::numeric_limits<int32_t>::max()))};
}

}  // namespace

std::string lower_case(std::string_view text) {
  if (is_ascii(text)) {
    std::string lower(text);
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
  }
  std::string lower;
  icu::UnicodeString::fromUTF8(piece(text)).toLower(icu::Locale::getRoot()).toUTF8String(lower);
  return lower;
}

std::string nfc(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFCInstance(status);
  if (U_FAILURE(status)) return std::string(text);
  icu::UnicodeString normal =
      normalizer->normalize(icu::UnicodeString::fromUTF8(piece(text)), status);
  if (U_FAILURE(status)) return std::string(text);
  std::string result;
  return normal.toUTF8String(result);
}

std::u32string to_code_points(std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t i = 0; i < text.size();) {
    UChar32 point = 0;
    U8_NEXT_OR_FFFD(bytes, i, text.size(), point);
    points.push_back(static_cast<char32_t>(point));
  }
  return points;
}

std::string to_utf8(std::u32string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (char32_t c : text) {
    uint8_t unit[U8_MAX_LENGTH];
    int32_t length = 0;
    U8_APPEND_UNSAFE(unit, length, static_cast<UChar32>(c));
    bytes.append(reinterpret_cast<const char*>(unit), static_cast<size_t>(length));
  }
  return bytes;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0;
}

bool is_digit(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return u_charType(static_cast<UChar32>(c)) == U_DECIMAL_DIGIT_NUMBER;
}

bool is_word_char(char32_t c) {
  if (c == '_') return true;
  if (c < 0x80) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  // Python's \w is str.isalnum or '_': letters and every kind of number, but no combining marks.
  auto point = static_cast<UChar32>(c);
  return (U_MASK(u_charType(point)) & (U_GC_L_MASK | U_GC_N_MASK)) != 0;
}

}  // namespace qfs::datasets
