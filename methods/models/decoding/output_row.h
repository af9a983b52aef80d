// OutputRow: a sequence of produced tokens and the rules that end it.
//
// Used by searches: one for an output, or one for each beam. Copies are cheap enough to branch.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "methods/models/decoding/decoding.h"
#include "methods/models/decoding/generated.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::decoding {

class OutputRow {
 public:
  /// Both arguments must outlive the row.
  OutputRow(const tokenizers::VocabularyTokenizer& tokenizer, const DecodingOptions& options)
      : tokenizer_(&tokenizer), options_(&options) {}

  /// Takes the next token; false when the row has ended: by a stop id (not kept), a stop text (cut
  /// off with everything after it) or the limit of tokens.
  bool accept(int32_t token);

  const std::vector<int32_t>& ids() const { return ids_; }
  Generated take();

 private:
  /// Where the first stop text of the whole output begins, if it has one.
  size_t find_stop(const std::string& text) const;

  const tokenizers::VocabularyTokenizer* tokenizer_;
  const DecodingOptions* options_;
  std::vector<int32_t> ids_;
  bool stopped_ = false;
};

}  // namespace qfs::decoding
