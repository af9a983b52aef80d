#include "metrics/punkt/punkt_words.h"

#include "harness/core/text/unicode.h"

namespace qfs::metrics {
namespace {

/// ‘ ’ “ ” and « »: bytes, or 0.
size_t curly_quote(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  for (std::string_view quote : {"\u2018", "\u2019", "\u201C", "\u201D", "\u00AB", "\u00BB"}) {
    if (rest.starts_with(quote)) return quote.size();
  }
  return 0;
}

size_t one_of(std::string_view text, size_t at, std::string_view characters, PunktRules rules) {
  const char c = text[at];
  if (static_cast<unsigned char>(c) < 0x80) return characters.find(c) != std::string_view::npos;
  return rules == PunktRules::nltk_3_10 ? curly_quote(text, at) : 0;
}

size_t run_of(char c, std::string_view text, size_t at) {
  const size_t end = text.find_first_not_of(c, at);
  return std::min(end, text.size()) - at;
}

/// Bytes of "--…", "..…" or ". . …." at `at`, else 0 (_re_multi_char_punct).
size_t multi_character(std::string_view text, size_t at, PunktRules rules) {
  if (text[at] == '-' || text[at] == '.') {
    const size_t run = run_of(text[at], text, at);
    if (run > 1) return run;
  }
  if (text[at] != '.') return 0;
  // (?:\.\s){2,}\. : the last period of the longest chain ends it, be it followed by a space or
  // not.
  size_t pairs = 0;
  size_t end = at;
  size_t space = 0;
  while (end < text.size() && text[end] == '.' && end + 1 < text.size() &&
         (space = punkt_space(text, end + 1, rules)) > 0) {
    end += 1 + space;
    ++pairs;
  }
  if (pairs >= 2 && end < text.size() && text[end] == '.') return end + 1 - at;
  return pairs >= 3 ? end - space - at : 0;
}

bool begins_break(std::string_view text, size_t at, PunktRules rules) {
  return at == text.size() || punkt_space(text, at, rules) > 0 ||
         punkt_non_word(text, at, rules) > 0 || multi_character(text, at, rules) > 0;
}

bool ends_word(std::string_view text, size_t at, PunktRules rules) {
  return begins_break(text, at, rules) || (text[at] == ',' && begins_break(text, at + 1, rules));
}

}  // namespace

size_t punkt_non_word(std::string_view text, size_t at, PunktRules rules) {
  return one_of(text, at, ")\";}]*:@'({[?!", rules);
}

size_t punkt_closer(std::string_view text, size_t at, PunktRules rules) {
  return one_of(text, at, "\"')]}", rules);
}

size_t punkt_space(std::string_view text, size_t at, PunktRules rules) {
  const CodePoint point = code_point_at(text, at);
  const bool separator = point.value >= 0x1C && point.value <= 0x1F;
  const bool space = is_python_space(point.value) && !(separator && rules == PunktRules::nltk_3_10);
  return space ? point.bytes : 0;
}

bool punkt_letter(char32_t c, PunktRules rules) {
  if (is_decimal_digit(c)) return false;
  return rules == PunktRules::nltk_3_10 ? is_unicode_word_character(c) : is_word_character(c);
}

void append_punkt_words(std::string_view line, PunktRules rules,
                        std::vector<std::string_view>& words) {
  constexpr std::string_view kNeverFirst = "(\"`{[:;&#*@)}]-,";
  for (size_t at = 0; at < line.size();) {
    if (const size_t space = punkt_space(line, at, rules); space > 0) {
      at += space;
      continue;
    }
    size_t end = at + multi_character(line, at, rules);
    if (end == at) {
      end += code_point_at(line, at).bytes;
      if (kNeverFirst.find(line[at]) == std::string_view::npos) {
        while (!ends_word(line, end, rules)) end += code_point_at(line, end).bytes;
      }
    }
    words.push_back(line.substr(at, end - at));
    at = end;
  }
}

}  // namespace qfs::metrics
