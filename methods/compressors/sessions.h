// The sessions of this family: those that train what compresses, and those that write with it.
//
// Opened by the tensor host. Not thread-safe. Weights and tokenizers are shared through the host's
// cache.
#pragma once

#include <vector>

#include "harness/api/method.h"

namespace qfs::compressors {

/// Errors of `open`: those of zero_shot; `invalid_argument`: no trained file; `data`: a trained
/// file that is damaged, of another method, form or backbone. Errors of `run`: as zero_shot; also
/// `invalid_argument` for a segment that exceeds the backbone's window, with the example's key.
std::vector<SessionFactory> session_factories();

}  // namespace qfs::compressors
