#include "metrics/sacrebleu/bleu_tokenizers.h"

#include <unicode/uchar.h>

#include <algorithm>

#include "harness/core/text/unicode.h"

namespace qfs::metrics {
namespace {

using Points = std::u32string;

Points points_of(std::string_view text) {
  Points points;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    points.push_back(point.value);
    i += point.bytes;
  }
  return points;
}

/// Python's str.split().
std::vector<std::string> split(const Points& points) {
  std::vector<std::string> tokens;
  bool inside = false;
  for (char32_t c : points) {
    if (is_python_space(c)) {
      inside = false;
      continue;
    }
    if (!inside) tokens.emplace_back();
    inside = true;
    append_utf8(c, tokens.back());
  }
  return tokens;
}

void trim_end(Points& points) {
  while (!points.empty() && is_python_space(points.back())) points.pop_back();
}

void replace_all(Points& text, std::u32string_view from, std::u32string_view to) {
  for (size_t at = text.find(from); at != Points::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_period_or_comma(char32_t c) { return c == '.' || c == ','; }

/// ASCII punctuation that always stands alone: all but the apostrophe, comma, hyphen and period.
bool stands_alone(char32_t c) {
  if (c >= 0x80 || c <= ' ') return c == ' ';
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= '!' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/// A space before, between and behind two characters of a rule.
struct Spaces {
  bool before = false;
  bool between = false;
  bool behind = false;
};

/// What re.sub does for a pattern of two characters: left to right, both characters used up.
template <class First, class Second>
Points separate(const Points& text, First&& first, Second&& second, Spaces spaces) {
  Points result;
  result.reserve(text.size() + text.size() / 4);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool found = i + 1 < text.size() && first(text[i]) && second(text[i + 1]);
    if (found && spaces.before) result.push_back(' ');
    result.push_back(text[i]);
    if (!found) continue;
    if (spaces.between) result.push_back(' ');
    result.push_back(text[++i]);
    if (spaces.behind) result.push_back(' ');
  }
  return result;
}

/// A space on both sides of every character that `apart` says.
template <class Apart>
Points set_apart(const Points& text, Apart&& apart) {
  Points result;
  for (char32_t c : text) {
    const bool alone = apart(c);
    if (alone) result.push_back(' ');
    result.push_back(c);
    if (alone) result.push_back(' ');
  }
  return result;
}

/// TokenizerRegexp, which 13a and zh share.
Points separate_punctuation(Points text) {
  const auto not_digit = [](char32_t c) { return !is_digit(c); };
  const auto hyphen = [](char32_t c) { return c == '-'; };
  text = set_apart(text, stands_alone);
  text = separate(text, not_digit, is_period_or_comma, {.between = true, .behind = true});
  text = separate(text, is_period_or_comma, not_digit, {.before = true, .between = true});
  return separate(text, is_digit, hyphen, {.between = true, .behind = true});
}

Points of_13a(Points text) {
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"-\n", U"");
  replace_all(text, U"\n", U" ");
  replace_all(text, U"&quot;", U"\"");
  replace_all(text, U"&amp;", U"&");
  replace_all(text, U"&lt;", U"<");
  replace_all(text, U"&gt;", U">");
  return separate_punctuation(U" " + text + U" ");
}

/// The ranges of sacreBLEU's tokenizer_zh. Two of them are meant for planes 2 and up, but Python
/// reads u'\u20000' as two characters, so that single ones compare as U+2001 to U+2A6D and U+2F81
/// to U+2FA1.
bool is_set_apart_by_zh(char32_t c) {
  constexpr char32_t kRanges[][2] = {
      {0x3400, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9},
      {0x2001, 0x2A6D}, {0x2F81, 0x2FA1}, {0xFF00, 0xFFEF}, {0x2E80, 0x2EFF}, {0x3000, 0x303F},
      {0x31C0, 0x31EF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3100, 0x312F}, {0x31A0, 0x31BF},
      {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0x2600, 0x27BF}, {0x3200, 0x33FF}};
  return std::ranges::any_of(kRanges,
                             [c](const auto& range) { return c >= range[0] && c <= range[1]; });
}

bool has_category(char32_t c, uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & mask) != 0;
}

Points of_intl(Points text) {
  const auto punctuation = [](char32_t c) { return has_category(c, U_GC_P_MASK); };
  const auto no_number = [](char32_t c) { return !has_category(c, U_GC_N_MASK); };
  text = separate(text, no_number, punctuation, {.between = true, .behind = true});
  text = separate(text, punctuation, no_number, {.before = true, .between = true});
  return set_apart(text, [](char32_t c) { return has_category(c, U_GC_S_MASK); });
}

}  // namespace

std::string_view to_string(BleuTokenizer tokenizer) {
  switch (tokenizer) {
    case BleuTokenizer::t13a:
      return "13a";
    case BleuTokenizer::zh:
      return "zh";
    case BleuTokenizer::character:
      return "char";
    case BleuTokenizer::intl:
      return "intl";
    case BleuTokenizer::none:
      break;
  }
  return "none";
}

std::vector<std::string> bleu_tokens(BleuTokenizer tokenizer, std::string_view segment) {
  Points text = points_of(segment);
  trim_end(text);
  switch (tokenizer) {
    case BleuTokenizer::t13a:
      return split(of_13a(std::move(text)));
    case BleuTokenizer::zh: {
      const auto first = std::ranges::find_if_not(text, is_python_space);
      text.erase(text.begin(), first);
      return split(separate_punctuation(set_apart(text, is_set_apart_by_zh)));
    }
    case BleuTokenizer::character:
      return split(set_apart(text, [](char32_t) { return true; }));
    case BleuTokenizer::intl:
      return split(of_intl(std::move(text)));
    case BleuTokenizer::none:
      break;
  }
  return split(text);
}

}  // namespace qfs::metrics
