// JiebaCut: jieba 0.42.1's accurate mode, word for word (Tokenizer.cut with cut_all=False).
//
// Called by JiebaSegmenter. A text falls into blocks of Han, ASCII letters, digits and "+#&._%-",
// and the rest, of which every character is a word ("\r\n" together). Inside a block the path
// through the dictionary with the greatest sum of log probabilities is taken, on ties the longer
// word; runs of characters that it leaves single go through the HMM, or, without it, single ASCII
// letters and digits are joined. Holds scratch space: not thread-safe, one per thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/chinese/jieba_dictionary.h"
#include "metrics/chinese/jieba_hmm.h"

namespace qfs::metrics {

class JiebaCut {
 public:
  /// `hmm` may be null: jieba's HMM=False. Both outlive this.
  JiebaCut(const JiebaDictionary& dictionary, const JiebaHmm* hmm)
      : dictionary_(dictionary), hmm_(hmm) {}

  /// Appends all words, which together are `text`. Ill-formed bytes are characters of their own.
  void cut(std::string_view text, std::vector<std::string_view>& words);

 private:
  struct Step {
    double score = 0;   ///< of the best path from here to the block's end
    uint32_t next = 0;  ///< index after the first word of that path
  };
  void cut_block();
  void find_path();
  void flush(size_t begin, size_t end);
  void cut_unknown(size_t begin, size_t end);
  void cut_latin(size_t begin, size_t end);
  /// The word of the block's characters [begin, end).
  void emit(size_t begin, size_t end) {
    words_->push_back(text_.substr(offsets_[begin], offsets_[end] - offsets_[begin]));
  }

  const JiebaDictionary& dictionary_;
  const JiebaHmm* hmm_;
  std::string_view text_;
  std::vector<std::string_view>* words_ = nullptr;
  std::u32string block_;
  std::vector<size_t> offsets_;  ///< byte offset of each character of the block, and of its end
  std::vector<Step> path_;
  std::vector<size_t> lengths_;
};

}  // namespace qfs::metrics
