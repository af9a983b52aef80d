#include "metrics/chinese/zh_text.h"

#include "harness/core/text/chinese_text.h"
#include "harness/core/text/unicode.h"
#include "harness/core/text/unicode_forms.h"

namespace qfs::metrics {

std::string ZhTextOptions::signature() const {
  return std::string("case:") + (fold_case ? "fold" : "keep") + "|nfkc:" + (nfkc ? "on" : "off") +
         "|punct:" + (drop_punctuation ? "drop" : "keep") +
         "|sent:" + (sentences == Sentences::chinese ? "zh" : "newline");
}

std::vector<std::string_view> split_zh_sentences(std::string_view text,
                                                 ZhTextOptions::Sentences rule) {
  if (rule == ZhTextOptions::Sentences::chinese) return split_chinese_sentences(text);
  std::vector<std::string_view> lines;
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  lines.push_back(text.substr(begin));
  return lines;
}

Result<EncodedText> ZhTextEncoder::encode(std::string_view text, std::vector<TokenPlace>* places) {
  EncodedText encoded;
  std::vector<size_t> origins;
  for (std::string_view sentence : split_zh_sentences(text, options_.sentences)) {
    const size_t known = places == nullptr ? 0 : places->size();
    if (options_.nfkc) {
      const Result<std::string> normal =
          places == nullptr ? nfkc(sentence) : nfkc(sentence, origins);
      if (!normal) return normal.error();
      if (Status status = append_sentence(*normal, encoded, places); !status) {
        return status.error();
      }
    } else if (Status status = append_sentence(sentence, encoded, places); !status) {
      return status.error();
    }
    encoded.line_ends.push_back(encoded.tokens.size());
    if (places == nullptr) continue;
    const auto before = static_cast<size_t>(sentence.data() - text.data());
    for (size_t i = known; i < places->size(); ++i) {
      TokenPlace& place = (*places)[i];
      if (options_.nfkc) place = {origins[place.begin], origins[place.end]};
      place.begin += before;
      place.end += before;
    }
  }
  return encoded;
}

Status ZhTextEncoder::append_sentence(std::string_view sentence, EncodedText& encoded,
                                      std::vector<TokenPlace>* places) {
  pieces_.clear();
  if (Status status = segmenter_->segment(sentence, pieces_); !status) return status;
  for (std::string_view piece : pieces_) {
    const PieceKind kind = piece_kind(piece);
    if (kind == PieceKind::space) continue;
    if (kind == PieceKind::punctuation && options_.drop_punctuation) continue;
    if (places != nullptr) {
      const auto begin = static_cast<size_t>(piece.data() - sentence.data());
      places->push_back({begin, begin + piece.size()});
    }
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
