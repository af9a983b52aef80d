// Windows of LED's self-attention: which positions a token sees beside the global ones, and how
// their attention is computed.
//
// Read from config.json; used by windowed_attention.h. Plain data.
#pragma once

#include <cstdint>

namespace qfs::nn {

struct Window {
  int64_t reach = 0;  ///< positions on each side, or the length of a block
  /// Its own block of `reach` positions, the one before and the one after, instead of a band: the
  /// attention without overlap of AllenAI's code, which ConvoSumm's models were trained with.
  bool blocks = false;

  bool sees(int64_t query, int64_t key) const {
    const int64_t distance = blocks ? query / reach - key / reach : query - key;
    return blocks ? distance >= -1 && distance <= 1 : distance >= -reach && distance <= reach;
  }

  friend bool operator==(const Window&, const Window&) = default;
};

}  // namespace qfs::nn
