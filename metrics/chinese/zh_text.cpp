#include "metrics/chinese/zh_text.h"

#include "metrics/text/unicode.h"

namespace qfs::metrics {
namespace {

enum class Kind { space, punctuation, word };

/// What a piece is made of, taken together.
Kind kind_of(std::string_view piece) {
  Kind kind = Kind::space;
  for (size_t i = 0; i < piece.size();) {
    const CodePoint point = code_point_at(piece, i);
    i += point.bytes;
    if (is_python_space(point.value)) continue;
    if (!is_punctuation(point.value)) return Kind::word;
    kind = Kind::punctuation;
  }
  return kind;
}

bool ends_sentence(char32_t c) {
  return std::u32string_view(U"。！？；｡").find(c) != std::u32string_view::npos;
}

bool closes(char32_t c) {
  return std::u32string_view(U"”’」』）】》〉").find(c) != std::u32string_view::npos;
}

}  // namespace

std::string ZhTextOptions::signature() const {
  return std::string("case:") + (fold_case ? "fold" : "keep") + "|nfkc:" + (nfkc ? "on" : "off") +
         "|punct:" + (drop_punctuation ? "drop" : "keep") +
         "|sent:" + (sentences == Sentences::chinese ? "zh" : "newline");
}

std::vector<std::string_view> split_zh_sentences(std::string_view text,
                                                 ZhTextOptions::Sentences rule) {
  std::vector<std::string_view> sentences;
  size_t begin = 0;
  bool ended = false;  // an end mark was seen; closing marks may still follow
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    if (point.value == '\n') {
      sentences.push_back(text.substr(begin, i - begin));
      begin = i + point.bytes;
      ended = false;
    } else if (rule == ZhTextOptions::Sentences::chinese) {
      if (ended && !ends_sentence(point.value) && !closes(point.value)) {
        sentences.push_back(text.substr(begin, i - begin));
        begin = i;
        ended = false;
      }
      ended = ended || ends_sentence(point.value);
    }
    i += point.bytes;
  }
  sentences.push_back(text.substr(begin));
  return sentences;
}

Result<EncodedText> ZhTextEncoder::encode(std::string_view text) {
  EncodedText encoded;
  for (std::string_view sentence : split_zh_sentences(text, options_.sentences)) {
    if (options_.nfkc) {
      const Result<std::string> normal = nfkc(sentence);
      if (!normal) return normal.error();
      if (Status status = append_sentence(*normal, encoded); !status) return status.error();
    } else if (Status status = append_sentence(sentence, encoded); !status) {
      return status.error();
    }
    encoded.line_ends.push_back(encoded.tokens.size());
  }
  return encoded;
}

Status ZhTextEncoder::append_sentence(std::string_view sentence, EncodedText& encoded) {
  pieces_.clear();
  if (Status status = segmenter_->segment(sentence, pieces_); !status) return status;
  for (std::string_view piece : pieces_) {
    const Kind kind = kind_of(piece);
    if (kind == Kind::space || (kind == Kind::punctuation && options_.drop_punctuation)) continue;
    if (options_.fold_case) {
      folded_.clear();
      append_case_folded(piece, folded_);
      piece = folded_;
    }
    encoded.tokens.push_back(words_.id(piece));
  }
  return {};
}

}  // namespace qfs::metrics
