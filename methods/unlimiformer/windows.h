// Windows: how a source that is longer than an encoder reads is encoded: in overlapping windows of
// full length, of whose tokens those are kept that have company on both sides.
//
// Called by unlimiformer's sessions; torch-free. Pure; thread-safe. Source: Bertsch et al. 2023 and
// the released code (abertsch72/unlimiformer).
#pragma once

#include <cstdint>
#include <vector>

namespace qfs::unlimiformer {

struct Window {
  int64_t begin = 0;  ///< tokens [begin, end) are read
  int64_t end = 0;
  int64_t kept_begin = 0;  ///< and the states of these are kept
  int64_t kept_end = 0;

  friend bool operator==(const Window&, const Window&) = default;
};

/// Windows of `window` tokens over `tokens` >= 1 tokens, which are kept once each, in order.
/// `overlap` in [0, 1): the share of a window that its neighbours read too; half of it on each side
/// is not kept, but for the beginning of the first window and the end of the last, which ends with
/// the source. A source that fits is one window.
std::vector<Window> windows_of(int64_t tokens, int64_t window, double overlap);

}  // namespace qfs::unlimiformer
