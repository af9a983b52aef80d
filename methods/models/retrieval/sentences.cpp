#include "methods/models/retrieval/sentences.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "harness/core/text/chinese_text.h"
#include "harness/core/text/unicode.h"
#include "methods/models/greedy_oracle/abbreviations.h"

namespace qfs::retrieval {
namespace {

using std::string_view;

constexpr std::array<string_view, 4> kEndMarks = {".", "!", "?", "…"};
constexpr std::array<string_view, 3> kWideEndMarks = {"。", "！", "？"};
constexpr std::array<string_view, 9> kClosers = {"\"", "'", ")", "]", "}", "»", "”", "’", "」"};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
bool is_line_break(char c) { return c == '\n' || c == '\r'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

bool is_content(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Length of the mark at `position`, 0 when none of `marks` is there.
template <size_t N>
size_t mark_at(string_view text, size_t position, const std::array<string_view, N>& marks) {
  for (string_view mark : marks) {
    if (text.substr(position, mark.size()) == mark) return mark.size();
  }
  return 0;
}

template <size_t N>
size_t skip_marks(string_view text, size_t position, const std::array<string_view, N>& marks) {
  while (size_t length = mark_at(text, position, marks)) position += length;
  return position;
}

/// The word that ends at `end`, lower-cased, without opening punctuation before it.
std::string word_before(string_view text, size_t end) {
  size_t begin = end;
  while (begin > 0 && !is_space(text[begin - 1]) && !is_line_break(text[begin - 1])) --begin;
  while (begin < end && !is_content(text[begin])) ++begin;
  std::string word(text.substr(begin, end - begin));
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return word;
}

/// Whether the marks [mark, after_marks), followed by closers up to `after`, end a sentence.
bool ends_sentence(string_view text, size_t mark, size_t after_marks, size_t after) {
  if (after == text.size() || is_line_break(text[after])) return true;
  if (!is_space(text[after])) return false;
  if (mark == 0 || is_space(text[mark - 1]) || is_line_break(text[mark - 1])) return true;
  size_t next = after;
  while (next < text.size() && is_space(text[next])) ++next;
  if (next < text.size() && is_lower(text[next])) return false;
  const bool single_stop = after_marks == mark + 1 && text[mark] == '.';
  return !(single_stop && greedy_oracle::is_abbreviation(word_before(text, mark)));
}

/// If a sentence ends with the marks at `position`, the byte after it.
std::optional<size_t> end_at(string_view text, size_t position) {
  if (mark_at(text, position, kWideEndMarks) > 0) {
    return skip_marks(text, skip_marks(text, position, kWideEndMarks), kClosers);
  }
  const size_t after_marks = skip_marks(text, position, kEndMarks);
  if (after_marks == position) return std::nullopt;
  const size_t after = skip_marks(text, after_marks, kClosers);
  if (!ends_sentence(text, position, after_marks, after)) return std::nullopt;
  return after;
}

void add_trimmed(string_view text, TextSpan span, std::vector<TextSpan>& sentences) {
  while (span.begin < span.end && is_space(text[span.begin])) ++span.begin;
  while (span.end > span.begin && is_space(text[span.end - 1])) --span.end;
  const string_view sentence = text.substr(span.begin, span.end - span.begin);
  if (std::any_of(sentence.begin(), sentence.end(), is_content)) sentences.push_back(span);
}

/// Without the white space around it, the ideographic one too.
TextSpan trimmed_chinese(string_view text, TextSpan span) {
  size_t begin = span.end;  // of what is no white space
  size_t end = span.end;
  for (size_t i = span.begin; i < span.end;) {
    const CodePoint point = code_point_at(text.substr(0, span.end), i);
    i += point.bytes;
    if (is_python_space(point.value)) continue;
    begin = std::min(begin, i - point.bytes);
    end = i;
  }
  return {begin, end};
}

std::vector<TextSpan> split_chinese(string_view text) {
  std::vector<TextSpan> sentences;
  for (string_view sentence : split_chinese_sentences(text)) {
    if (piece_kind(sentence) != PieceKind::word) continue;
    const auto begin = static_cast<size_t>(sentence.data() - text.data());
    sentences.push_back(trimmed_chinese(text, {begin, begin + sentence.size()}));
  }
  return sentences;
}

}  // namespace

std::vector<TextSpan> split_sentences(string_view text, Script script) {
  if (script == Script::chinese) return split_chinese(text);
  std::vector<TextSpan> sentences;
  size_t begin = 0;
  size_t position = 0;
  while (position < text.size()) {
    if (is_line_break(text[position])) {
      add_trimmed(text, {begin, position}, sentences);
      begin = ++position;
    } else if (const std::optional<size_t> end = end_at(text, position)) {
      add_trimmed(text, {begin, *end}, sentences);
      begin = position = *end;
    } else {
      position = std::max(position + 1, skip_marks(text, position, kEndMarks));
    }
  }
  add_trimmed(text, {begin, text.size()}, sentences);
  return sentences;
}

}  // namespace qfs::retrieval
