#include "metrics/text/script_check.h"

#include <algorithm>
#include <cstdint>

#include "harness/core/text/unicode.h"

namespace qfs::metrics {
namespace {

constexpr size_t kOneIn = 5;
constexpr size_t kFewHan = 8;
constexpr size_t kLongWord = 5;
constexpr size_t kStretch = 240;

}  // namespace

bool drops_many_letters(std::string_view text) {
  size_t kept = 0;
  size_t high_bytes = 0;
  // Sums of a stretch fit into a byte, so that sixteen bytes are looked at together.
  for (size_t begin = 0; begin < text.size(); begin += kStretch) {
    uint8_t letters = 0;
    uint8_t high = 0;
    for (char c : text.substr(begin, kStretch)) {
      const auto byte = static_cast<unsigned char>(c);
      const auto from_a = static_cast<unsigned char>((byte | 0x20U) - 'a');
      letters = static_cast<uint8_t>(letters + (from_a < 26 ? 1 : 0));
      high = static_cast<uint8_t>(high + (byte >> 7U));
    }
    kept += letters;
    high_bytes += high;
  }
  // A dropped letter has two bytes at least.
  if (high_bytes / 2 * (kOneIn - 1) <= kept) return false;
  size_t dropped = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    dropped += point.value >= 0x80 && is_letter(point.value) ? 1 : 0;
    i += point.bytes;
  }
  return kOneIn * dropped > dropped + kept;
}

bool looks_unsegmented(std::string_view text) {
  size_t han = 0;
  size_t words = 0;
  bool in_word = false;  // a word that has a Han character
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    i += point.bytes;
    if (point.value < 0x80) {
      if (is_python_space(point.value)) in_word = false;
      continue;
    }
    if (is_python_space(point.value)) {
      in_word = false;
    } else if (is_han(point.value)) {
      ++han;
      words += in_word ? 0 : 1;
      in_word = true;
    }
  }
  return han >= kFewHan && han > kLongWord * words;
}

bool has_only_signs(std::string_view text) {
  bool blank = true;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    i += point.bytes;
    if (is_word_character(point.value)) return false;
    blank = blank && is_python_space(point.value);
  }
  return !blank;
}

std::string_view ascii_words_note(const ScoreItem& item) {
  if (!any_text(item, drops_many_letters)) {
    return any_text(item, has_only_signs) ? kOnlySignsNote : std::string_view();
  }
  return "only a-z and 0-9 are words here, which drops more than a fifth of a text's letters; "
         "rouge-zh scores Chinese and every other script";
}

bool any_text(const ScoreItem& item, bool (*check)(std::string_view)) {
  return check(item.candidate) || std::ranges::any_of(item.references, check);
}

}  // namespace qfs::metrics
