#include "methods/models/prompting/jinja/letter_case.h"

#include <unicode/ucasemap.h>
#include <unicode/uchar.h>

#include "methods/models/tokenizers/pipeline/aligned_text.h"

namespace qfs::prompting::jinja {

namespace {

/// Full case mapping by ICU, without a language.
std::string mapped(std::string_view text, bool upper) {
  UErrorCode error = U_ZERO_ERROR;
  UCaseMap* map = ucasemap_open("", 0, &error);
  if (U_FAILURE(error)) return std::string(text);
  std::string result(text.size() * 3 + 1, '\0');
  const auto convert = upper ? ucasemap_utf8ToUpper : ucasemap_utf8ToLower;
  const int32_t length = convert(map, result.data(), static_cast<int32_t>(result.size()),
                                 text.data(), static_cast<int32_t>(text.size()), &error);
  ucasemap_close(map);
  if (U_FAILURE(error)) return std::string(text);
  result.resize(static_cast<size_t>(length));
  return result;
}

}  // namespace

bool is_python_space(char32_t c) {
  return tokenizers::is_white_space(c) || (c >= 0x1C && c <= 0x1F);
}

std::string with_case(std::string_view text, LetterCase wanted) {
  if (wanted == LetterCase::upper) return mapped(text, true);
  if (wanted == LetterCase::lower) return mapped(text, false);
  std::string result;
  bool inside = false;
  tokenizers::for_each_code_point(text, [&](char32_t c, size_t begin, size_t end) {
    const std::string_view character = text.substr(begin, end - begin);
    result += mapped(character, !inside);
    inside = wanted == LetterCase::capitalized || u_isalpha(static_cast<UChar32>(c)) != 0;
  });
  return result;
}

}  // namespace qfs::prompting::jinja
