// LocalId: a token numbered within one reference: its distinct tokens from 0, and their number for
// every token that it does not have. Tables over a pair of texts stay as small as the reference.
// Used by the matchers of every metric that compares words. A plain number; cannot fail.
#pragma once

#include <cstdint>

namespace qfs::metrics {

using LocalId = uint32_t;

}  // namespace qfs::metrics
