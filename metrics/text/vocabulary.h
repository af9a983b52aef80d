// Vocabulary and EncodedText: texts as sequences of token ids, the form in which everything else
// here compares words.
//
// Called by RougeScorer and by extractive methods. Surface forms are interned and each one is
// stemmed once (the stem's id is remembered beside it), because a corpus repeats its words:
// stemming every occurrence costs rouge_score more than half of its time. Not thread-safe; use one
// per thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/text/intern_table.h"
#include "metrics/text/short_words.h"

namespace qfs::metrics {

using TokenId = uint32_t;

/// The tokens of a text and where its lines end. A line is a piece between '\n' or a sentence;
/// one without tokens has equal neighbours in `line_ends`.
struct EncodedText {
  std::vector<TokenId> tokens;
  std::vector<size_t> line_ends;  ///< index after the last token of each line

  size_t lines() const { return line_ends.size(); }
  std::span<const TokenId> line(size_t index) const {
    const size_t begin = index == 0 ? 0 : line_ends[index - 1];
    return std::span(tokens).subspan(begin, line_ends[index] - begin);
  }
};

class Vocabulary {
 public:
  /// `stem`: words longer than three characters are replaced by their Porter stem (NLTK mode).
  explicit Vocabulary(bool stem) : stem_(stem) {}

  /// Id of a lower-case token of [a-z0-9]; ids are dense, below size().
  TokenId id(std::string_view token);
  size_t size() const { return tokens_.size(); }
  std::string_view text(TokenId id) const { return tokens_.text(id); }

  /// Lines end at '\n'.
  EncodedText encode(std::string_view text);
  /// As above, into a text whose memory is used again.
  void encode(std::string_view text, EncodedText& encoded);
  /// Appends the tokens of `line`, whatever it holds, as one line more.
  void append_line(std::string_view line, EncodedText& encoded);

 private:
  /// Appends tokens, and ends of lines for every '\n' (not for the end of `text`).
  void append(std::string_view text, bool lines, EncodedText& encoded);
  void append_slowly(std::string_view text, bool lines, EncodedText& encoded);
  /// Id of a token of mixed case at `offset`.
  TokenId id_at(std::string_view text, size_t offset, size_t length);
  /// Id of a token that was not seen before: of its stem, if it has one.
  TokenId new_surface(std::string_view token);

  bool stem_;
  ShortWords short_surfaces_;
  InternTable long_surfaces_;
  std::vector<TokenId> token_of_long_;  ///< by number in long_surfaces_
  InternTable tokens_;
  std::string buffer_;
};

}  // namespace qfs::metrics
