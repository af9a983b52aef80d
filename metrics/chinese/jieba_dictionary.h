// JiebaDictionary: the words of a jieba dictionary with their log probabilities.
//
// Called by JiebaSegmenter. The file has one word a line, "word frequency [tag]" separated by
// single spaces, UTF-8, as jieba 0.42.1 reads it (Tokenizer.gen_pfdict): a repeated word keeps its
// last frequency while the total counts all of them; a frequency of 0 makes no word. Immutable,
// thread-safe. A malformed line is a `data` error with file and line.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "metrics/chinese/word_trie.h"

namespace qfs::metrics {

class JiebaDictionary {
 public:
  static constexpr size_t kLongestWord = 256;  ///< code points; bounds the walk from a position

  /// `name` is the file's, for messages.
  static Result<JiebaDictionary> parse(std::string_view text, const std::string& name);

  /// Weights are ln(frequency) - ln(total), in doubles as jieba computes them.
  const WordTrie& words() const { return words_; }
  /// ln(1) - ln(total): the weight of a single character that is no word.
  double unknown() const { return unknown_; }

  /// Whether the whole text is a word.
  bool contains(std::u32string_view text) const;

 private:
  WordTrie words_;
  double unknown_ = 0;
};

}  // namespace qfs::metrics
