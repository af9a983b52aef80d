#include "metrics/text/unicode.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <limits>

namespace qfs::metrics {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// ICU counts bytes in 32 bits; no text that a metric accepts comes near.
icu::StringPiece piece(std::string_view text) {
  return {text.data(),
          static_cast<int32_t>(std::min<size_t>(text.size(), std::numeric_limits<int32_t>::max()))};
}

}  // namespace

CodePoint code_point_at(std::string_view text, size_t offset) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  size_t end = offset;
  UChar32 point = 0;
  U8_NEXT_OR_FFFD(bytes, end, text.size(), point);
  return {static_cast<char32_t>(point), end - offset};
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

bool is_decimal_digit(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return u_charType(static_cast<UChar32>(c)) == U_DECIMAL_DIGIT_NUMBER;
}

bool is_word_character(char32_t c) {
  return c == '_' || is_letter(c) ||
         u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_NUMERIC_TYPE) != U_NT_NONE;
}

bool is_unicode_word_character(char32_t c) {
  const auto point = static_cast<UChar32>(c);
  return u_isUAlphabetic(point) || u_hasBinaryProperty(point, UCHAR_JOIN_CONTROL) ||
         (U_GET_GC_MASK(point) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
}

void append_utf8(char32_t c, std::string& text) {
  char bytes[U8_MAX_LENGTH];
  int32_t size = 0;
  U8_APPEND_UNSAFE(bytes, size, c);
  text.append(bytes, static_cast<size_t>(size));
}

Result<std::string> nfkc(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  UErrorCode status = U_ZERO_ERROR;
  std::string normal;
  icu::StringByteSink<std::string> sink(&normal, static_cast<int32_t>(piece(text).size()));
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFKCInstance(status);
  if (U_SUCCESS(status)) normalizer->normalizeUTF8(0, piece(text), sink, nullptr, status);
  if (U_FAILURE(status)) {
    return unavailable("ICU cannot normalise to NFKC: " + std::string(u_errorName(status)));
  }
  return normal;
}

void append_lower_case(std::string_view text, std::string& lower) {
  if (is_ascii(text)) {
    for (char c : text) {
      lower.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    return;
  }
  UErrorCode status = U_ZERO_ERROR;
  icu::StringByteSink<std::string> sink(&lower);
  icu::CaseMap::utf8ToLower("", 0, piece(text), sink, nullptr, status);
}

void append_case_folded(std::string_view text, std::string& folded) {
  if (is_ascii(text)) {
    for (char c : text) {
      folded.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    return;
  }
  UErrorCode status = U_ZERO_ERROR;
  icu::StringByteSink<std::string> sink(&folded);
  icu::CaseMap::utf8Fold(0, piece(text), sink, nullptr, status);
}

}  // namespace qfs::metrics
