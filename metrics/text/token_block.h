// TokenBlock: 64 bytes of a text as bit masks of what tokens.h makes of each.
//
// Called by Vocabulary, which finds the borders of tokens by arithmetic on the masks instead of a
// branch a byte (masks as in G. Langdale, D. Lemire, "Parsing gigabytes of JSON per second", VLDB
// Journal 28, 2019). Bit i is byte i. Pure; thread-safe; cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qfs::metrics {

inline constexpr size_t kBlockBytes = 64;

struct TokenBlock {
  uint64_t token = 0;    ///< ASCII letters and digits
  uint64_t newline = 0;  ///< '\n'
  /// Bytes of U+212A and U+0130, the two other characters whose lower case has an ASCII letter (and
  /// of others): the block needs the slow way.
  uint64_t unusual = 0;
};

/// `data`: kBlockBytes readable bytes.
TokenBlock token_block(const char* data);

}  // namespace qfs::metrics
