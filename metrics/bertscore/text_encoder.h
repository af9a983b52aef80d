// TextEncoder: what BERTScore needs of a model.
//
// Implemented where the model lives (harness/apps), called by BertScorer. Not thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "harness/api/result.h"
#include "metrics/bertscore/token_vectors.h"

namespace qfs::metrics {

class TextEncoder {
 public:
  virtual ~TextEncoder() = default;
  /// The ids of a text with special tokens, cut to what the model reads; no vectors yet. The text
  /// is valid UTF-8 without white space at its ends.
  virtual Result<TokenVectors> tokens(std::string_view text) = 0;
  /// Gives each text its vectors, of any length. They do not depend on the other texts.
  virtual Status encode(std::span<TokenVectors* const> texts) = 0;
};

}  // namespace qfs::metrics
