// ChangedDocument: an example whose document a method rewrote before it is prompted (words in front
// of it, some of its passages alone), and the ledger of what was read in the terms of the document
// as it was.
//
// Used by sessions that change documents and by their tests. Pure; thread-safe; cannot fail.
#pragma once

#include <optional>
#include <vector>

#include "harness/api/example.h"
#include "harness/api/prediction.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::prompting {

struct ChangedDocument {
  Example example;
  /// Of each of its segments, the bytes of the original's rendered segment that its text is: with
  /// the speaker's name where they begin at 0. None: words that the document does not have. Empty:
  /// where they come from is not known.
  std::vector<std::optional<ByteSpan>> origins;
};

/// The ledger for `original` of what was kept of `changed`. Its kept tokens are counted anew.
Truncation ledger_of_original(const Truncation& of_changed, const ChangedDocument& changed,
                              const Example& original, const tokenizers::Tokenizer& counter);

}  // namespace qfs::prompting
