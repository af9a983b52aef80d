#include "metrics/set_rouge/word_sentences.h"

#include <string>

#include "harness/core/text/unicode.h"

namespace qfs::metrics {
namespace {

constexpr std::u32string_view kEnds = U"。！？?";
constexpr std::u32string_view kQuotes = U"”’";
constexpr std::u32string_view kNoBreakBefore = U"，。！？?";

bool in(std::u32string_view set, char32_t c) { return set.find(c) != std::u32string_view::npos; }

/// re.sub(head + "([^stops])", r"\1\n\2"): a newline after each match of `head` that another
/// character than `stops` follows. The character behind belongs to the match, so that the search
/// goes on after it. `head` gives the length of its match at an index, 0 for none.
template <class Head>
void break_after(std::u32string& text, Head&& head, std::u32string_view stops) {
  std::u32string broken;
  broken.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t length = head(i);
    if (length == 0 || i + length >= text.size() || in(stops, text[i + length])) {
      broken.push_back(text[i++]);
      continue;
    }
    broken.append(text, i, length);
    broken.push_back('\n');
    broken.push_back(text[i + length]);
    i += length + 1;
  }
  text = std::move(broken);
}

}  // namespace

size_t WordSentences::words() const {
  size_t count = 0;
  for (const std::vector<WordId>& sentence : sentences) count += sentence.size();
  return count;
}

std::vector<WordId> WordSentences::flat() const {
  std::vector<WordId> words;
  for (const std::vector<WordId>& sentence : sentences) {
    words.insert(words.end(), sentence.begin(), sentence.end());
  }
  return words;
}

void add_sentence(std::string_view piece, InternTable& table, WordSentences& text) {
  if (piece.empty()) return;
  std::vector<WordId> words;
  size_t begin = 0;
  for (size_t i = 0; i < piece.size();) {
    const CodePoint point = code_point_at(piece, i);
    if (is_python_space(point.value)) {
      if (i > begin) words.push_back(table.id(piece.substr(begin, i - begin)));
      begin = i + point.bytes;
    }
    i += point.bytes;
  }
  if (begin < piece.size()) words.push_back(table.id(piece.substr(begin)));
  if (words.empty()) words.push_back(table.id(""));
  text.sentences.push_back(std::move(words));
}

WordSentences split_at_periods(std::string_view text, InternTable& table) {
  WordSentences result;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    add_sentence(text.substr(begin, end - begin), table, result);
    begin = end + 1;
  }
  return result;
}

WordSentences split_as_rouge_chinese(std::string_view text, InternTable& table) {
  std::u32string marked;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    marked.push_back(point.value);
    i += point.bytes;
  }
  const auto repeated = [&](char32_t c, size_t count) {
    return [&marked, c, count](size_t at) -> size_t {
      for (size_t i = 0; i < count; ++i) {
        if (at + i >= marked.size() || marked[at + i] != c) return 0;
      }
      return count;
    };
  };
  break_after(
      marked, [&](size_t at) -> size_t { return in(kEnds, marked[at]); }, kQuotes);
  break_after(marked, repeated(U'.', 6), kQuotes);
  break_after(marked, repeated(U'…', 2), kQuotes);
  break_after(
      marked,
      [&](size_t at) -> size_t {
        const bool quoted =
            in(kEnds, marked[at]) && at + 1 < marked.size() && in(kQuotes, marked[at + 1]);
        return quoted ? 2 : 0;
      },
      kNoBreakBefore);
  while (!marked.empty() && is_python_space(marked.back())) marked.pop_back();

  WordSentences result;
  std::string piece;
  for (char32_t c : marked) {
    if (c == '\n') {
      add_sentence(piece, table, result);
      piece.clear();
    } else {
      append_utf8(c, piece);
    }
  }
  add_sentence(piece, table, result);
  return result;
}

}  // namespace qfs::metrics
