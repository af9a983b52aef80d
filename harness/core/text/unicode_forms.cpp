#include "harness/core/text/unicode_forms.h"

#include <unicode/bytestream.h>
#include <unicode/casemap.h>
#include <unicode/edits.h>
#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <limits>

namespace qfs {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// ICU counts bytes in 32 bits; no text that a reader accepts comes near.
icu::StringPiece piece(std::string_view text) {
  return {text.data(),
          static_cast<int32_t>(std::min<size_t>(text.size(), std::numeric_limits<int32_t>::max()))};
}

void append_lower_ascii(std::string_view text, std::string& lower) {
  for (char c : text) {
    lower.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower;
  append_lower_case(text, lower);
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

namespace {

Result<std::string> nfkc_with(std::string_view text, icu::Edits* edits) {
  UErrorCode status = U_ZERO_ERROR;
  std::string normal;
  icu::StringByteSink<std::string> sink(&normal, static_cast<int32_t>(piece(text).size()));
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFKCInstance(status);
  if (U_SUCCESS(status)) normalizer->normalizeUTF8(0, piece(text), sink, edits, status);
  if (U_FAILURE(status)) {
    return unavailable("ICU cannot normalise to NFKC: " + std::string(u_errorName(status)));
  }
  return normal;
}

}  // namespace

Result<std::string> nfkc(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  return nfkc_with(text, nullptr);
}

Result<std::string> nfkc(std::string_view text, std::vector<size_t>& origins) {
  icu::Edits edits;
  Result<std::string> normal = nfkc_with(text, &edits);
  if (!normal) return normal;
  origins.clear();
  icu::Edits::Iterator at = edits.getFineIterator();
  for (size_t i = 0; i <= normal->size(); ++i) {
    UErrorCode status = U_ZERO_ERROR;
    origins.push_back(
        static_cast<size_t>(at.sourceIndexFromDestinationIndex(static_cast<int32_t>(i), status)));
  }
  return normal;
}

void append_lower_case(std::string_view text, std::string& lower) {
  if (is_ascii(text)) {
    append_lower_ascii(text, lower);
    return;
  }
  UErrorCode status = U_ZERO_ERROR;
  icu::StringByteSink<std::string> sink(&lower);
  icu::CaseMap::utf8ToLower("", 0, piece(text), sink, nullptr, status);
}

void append_case_folded(std::string_view text, std::string& folded) {
  if (is_ascii(text)) {
    append_lower_ascii(text, folded);
    return;
  }
  UErrorCode status = U_ZERO_ERROR;
  icu::StringByteSink<std::string> sink(&folded);
  icu::CaseMap::utf8Fold(0, piece(text), sink, nullptr, status);
}

}  // namespace qfs
