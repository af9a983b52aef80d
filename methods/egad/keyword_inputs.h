// KeywordInputs: what egad makes of an example: its keywords in front of the document, or where in
// what an encoder reads they stand (arXiv 2410.08971, section 3 and Table 5).
//
// Made by egad's sessions; torch-free. Immutable; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/params.h"
#include "harness/api/result.h"
#include "methods/egad/dictionary.h"
#include "methods/egad/keywords.h"
#include "methods/models/prompting/changed_document.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::egad {

/// The backbone as keywords have to know it.
struct InputPlace {
  bool encoder_decoder = false;
  std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer;  ///< the backbone's
  std::shared_ptr<const tokenizers::Tokenizer> counter;              ///< of the document's tokens
  int64_t room = 0;  ///< tokens of keywords and document; of an encoder's source also of the query
};

class KeywordInputs {
 public:
  KeywordInputs(const Params& params, InputPlace place);

  /// Whether keywords are marked where they stand, and nothing is put in front.
  bool highlights() const { return kind_ == "highlighted"; }

  /// `data` for a document without any text, naming the example.
  static Status check_document(const Example& example);

  /// The document whose words are counted.
  std::string counted_text(const Example& example) const;

  /// The example with keywords in front. Errors: those of check_document; `invalid_argument` for
  /// keywords that leave no room, naming the example; `data` where they are those of a reference
  /// that it lacks.
  Result<prompting::ChangedDocument> prefixed(const Example& example,
                                              const Dictionary& dictionary) const;

  /// Of what an encoder reads of an example, as the default layout has it, which positions attend
  /// globally: the first, and of the words of the document that are keywords all tokens with a byte
  /// of them, whole words up to `highlight_most` tokens.
  std::vector<int64_t> marked(const Example& example, const Dictionary& dictionary,
                              std::span<const int32_t> ids) const;

 private:
  std::vector<std::string> keywords(const Example& example, const Dictionary& dictionary) const;

  std::string kind_;
  KeywordRule rule_;
  uint64_t set_;
  bool speakers_;  ///< their names are words of the document
  std::optional<int64_t> highlight_most_;
  InputPlace place_;
};

}  // namespace qfs::egad
