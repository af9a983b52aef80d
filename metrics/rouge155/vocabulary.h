// Vocabulary: bytes of a sentence to token ids, as ROUGE-1.5.5 tokenises.
//
// ASCII letters are lower-cased, every byte outside [a-z0-9] separates (a hyphen is a word of its
// own in the original and then dropped, which comes to the same). Stop words go first, by their
// exact lower-case form; words longer than three letters are then replaced by the lemma of the
// exception list as it stands, or stemmed. Each surface form is looked up and stemmed once. Not
// thread-safe; cannot fail.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/rouge155/lexicon.h"
#include "metrics/text/intern_table.h"
#include "metrics/text/vocabulary.h"

namespace qfs::metrics::rouge155 {

class Vocabulary {
 public:
  explicit Vocabulary(std::shared_ptr<const Lexicon> lexicon) : lexicon_(std::move(lexicon)) {}

  /// Appends the tokens of `sentence`; a word never reaches beyond it.
  void append(std::string_view sentence, std::vector<TokenId>& tokens);

 private:
  static constexpr TokenId kDropped = ~TokenId{0};
  /// Id of a word as it stands in the text, or kDropped.
  TokenId id_of(std::string_view surface);

  std::shared_ptr<const Lexicon> lexicon_;
  InternTable surfaces_;
  std::vector<TokenId> token_of_surface_;
  InternTable tokens_;
  std::string buffer_;
};

}  // namespace qfs::metrics::rouge155
