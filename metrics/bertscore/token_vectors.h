// TokenVectors: one text as BERTScore sees it: its tokens' ids, contextual vectors of length 1, and
// which of them are special tokens.
//
// Made by the encoder in a host; read by the arithmetic of this folder, which has no LibTorch.
// Plain data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace qfs::metrics {

struct TokenVectors {
  std::vector<int32_t> ids;
  std::vector<bool> special;   ///< per token: put in by the tokenizer's template
  std::vector<float> vectors;  ///< [tokens, width], row after row; none: not encoded
  int64_t width = 0;
  bool truncated = false;  ///< the text was longer than the encoder reads

  size_t tokens() const { return ids.size(); }
  std::span<const float> vector(size_t token) const {
    const auto size = static_cast<size_t>(width);
    return std::span(vectors).subspan(token * size, size);
  }
  /// Without any token of its own, a text is empty for BERTScore.
  bool empty() const;
};

/// Scales every vector to length 1, in float32; a vector of zeros stays.
void normalize(TokenVectors& text);

}  // namespace qfs::metrics
