#include "harness/core/text/chinese_text.h"

#include "harness/core/text/unicode.h"
#include "harness/core/text/unicode_forms.h"
#include "harness/core/text/word_breaks.h"

namespace qfs {
namespace {

bool ends_sentence(char32_t c) {
  return std::u32string_view(U"。！？；｡").find(c) != std::u32string_view::npos;
}

bool closes(char32_t c) {
  return std::u32string_view(U"”’」』）】》〉").find(c) != std::u32string_view::npos;
}

}  // namespace

std::vector<std::string_view> split_chinese_sentences(std::string_view text) {
  std::vector<std::string_view> sentences;
  size_t begin = 0;
  bool ended = false;  // an end mark was seen; closing marks may still follow
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    if (point.value == '\n') {
      sentences.push_back(text.substr(begin, i - begin));
      begin = i + point.bytes;
      ended = false;
    } else if (ended && !ends_sentence(point.value) && !closes(point.value)) {
      sentences.push_back(text.substr(begin, i - begin));
      begin = i;
      ended = false;
    }
    ended = ended || ends_sentence(point.value);
    i += point.bytes;
  }
  sentences.push_back(text.substr(begin));
  return sentences;
}

Result<std::vector<std::string>> chinese_words(std::string_view text) {
  std::vector<std::string> words;
  std::vector<std::string_view> pieces;
  for (std::string_view sentence : split_chinese_sentences(text)) {
    const Result<std::string> normal = nfkc(sentence);
    if (!normal) return normal.error();
    pieces.clear();
    if (Status status = append_icu_words(*normal, pieces); !status) return status.error();
    for (std::string_view piece : pieces) {
      if (piece_kind(piece) == PieceKind::word) append_case_folded(piece, words.emplace_back());
    }
  }
  return words;
}

}  // namespace qfs
