// RowState: the output of one row while it is generated, and the rules that end it.
//
// Used by GreedyGenerator. Not thread-safe.
#pragma once

#include <cstdint>

#include "methods/generation/greedy.h"
#include "methods/tokenizers/tokenizer.h"

namespace qfs::generation {

class RowState {
 public:
  /// Both arguments must outlive the row.
  RowState(const tokenizers::VocabularyTokenizer& tokenizer, const GreedyOptions& options)
      : tokenizer_(&tokenizer), options_(&options) {}

  /// Takes the next token; false when the row has ended: by a stop id (not kept), a stop text (cut
  /// off with everything after it) or the limit of tokens.
  bool accept(int32_t token);

  Generated take() { return std::move(generated_); }

 private:
  bool ends_at_stop_text(size_t old_size);

  const tokenizers::VocabularyTokenizer* tokenizer_;
  const GreedyOptions* options_;
  Generated generated_;
};

}  // namespace qfs::generation
