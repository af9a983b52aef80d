#include "metrics/sacrebleu/bleu_tokenizers.h"

#include <unicode/uchar.h>

#include <algorithm>

#include "harness/core/text/unicode.h"
#include "harness/core/utf8.h"

namespace qfs::metrics {
namespace {

using Points = std::u32string;

/// White space at `at`, in bytes; 0 when there is none.
size_t space_at(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte > ' ' && byte < 0x80) return 0;  // most of them, without a call
  const CodePoint point = code_point_at(text, at);
  return is_python_space(point.value) ? point.bytes : 0;
}

/// Python's str.split().
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> tokens;
  size_t begin = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t space = space_at(text, i);
    if (space == 0) {
      ++i;  // the bytes within a character are no white space
      continue;
    }
    if (i > begin) tokens.push_back(text.substr(begin, i - begin));
    i += space;
    begin = i;
  }
  if (text.size() > begin) tokens.push_back(text.substr(begin));
  return tokens;
}

/// Well-formed and without the white space at its end.
std::string trimmed(std::string_view segment) {
  std::string text =
      first_ill_formed_utf8(segment) ? to_utf8(to_code_points(segment)) : std::string(segment);
  while (!text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xC0U) == 0x80) --last;
    if (space_at(text, last) == 0) break;
    text.resize(last);
  }
  return text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_period_or_comma(char c) { return c == '.' || c == ','; }

/// ASCII punctuation that always stands alone: all but the apostrophe, comma, hyphen and period.
bool stands_alone(char c) {
  if (c == ' ') return true;
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= '!' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/// A space before, between and behind two characters of a rule.
struct Spaces {
  bool before = false;
  bool between = false;
  bool behind = false;
};

/// What re.sub does for a pattern of two characters: left to right, both characters used up. Text
/// is code points, or bytes where one of a pair is always ASCII: nothing is inserted within a
/// character then.
template <class Text, class First, class Second>
Text separate(const Text& text, First&& first, Second&& second, Spaces spaces) {
  Text result(3 * text.size(), ' ');
  auto* out = result.data();
  for (size_t i = 0; i < text.size(); ++i) {
    const bool found = i + 1 < text.size() && second(text[i + 1]) && first(text[i]);
    if (found && spaces.before) *out++ = ' ';
    *out++ = text[i];
    if (!found) continue;
    if (spaces.between) *out++ = ' ';
    *out++ = text[++i];
    if (spaces.behind) *out++ = ' ';
  }
  result.resize(static_cast<size_t>(out - result.data()));
  return result;
}

/// A space on both sides of every character that `apart` says.
template <class Text, class Apart>
Text set_apart(const Text& text, Apart&& apart) {
  Text result(3 * text.size(), ' ');
  auto* out = result.data();
  for (const auto c : text) {
    const bool alone = apart(c);
    if (alone) *out++ = ' ';
    *out++ = c;
    if (alone) *out++ = ' ';
  }
  result.resize(static_cast<size_t>(out - result.data()));
  return result;
}

/// TokenizerRegexp, which 13a and zh share.
std::string separate_punctuation(std::string text) {
  const auto not_digit = [](char c) { return !is_digit(c); };
  const auto hyphen = [](char c) { return c == '-'; };
  text = set_apart(text, stands_alone);
  text = separate(text, not_digit, is_period_or_comma, {.between = true, .behind = true});
  text = separate(text, is_period_or_comma, not_digit, {.before = true, .between = true});
  return separate(text, is_digit, hyphen, {.between = true, .behind = true});
}

std::string of_13a(std::string text) {
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  if (text.find('&') != std::string::npos) {
    replace_all(text, "&quot;", "\"");
    replace_all(text, "&amp;", "&");
    replace_all(text, "&lt;", "<");
    replace_all(text, "&gt;", ">");
  }
  return separate_punctuation(" " + text + " ");
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

std::vector<std::string_view> bleu_tokens(BleuTokenizer tokenizer, std::string_view segment,
                                          std::string& storage) {
  std::string text = trimmed(segment);
  switch (tokenizer) {
    case BleuTokenizer::t13a:
      storage = of_13a(std::move(text));
      break;
    case BleuTokenizer::zh: {
      const Points points = to_code_points(text);
      const auto first = std::ranges::find_if_not(points, is_python_space);
      const Points stripped(first, points.end());
      storage = separate_punctuation(to_utf8(set_apart(stripped, is_set_apart_by_zh)));
      break;
    }
    case BleuTokenizer::character:
      storage = to_utf8(set_apart(to_code_points(text), [](char32_t) { return true; }));
      break;
    case BleuTokenizer::intl:
      storage = to_utf8(of_intl(to_code_points(text)));
      break;
    case BleuTokenizer::none:
      storage = std::move(text);
      break;
  }
  return split(storage);
}

}  // namespace qfs::metrics
