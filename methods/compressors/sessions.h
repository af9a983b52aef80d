// The sessions of this family: those that train what compresses, and those that write with it.
//
// Opened by the tensor host. Not thread-safe. Weights and tokenizers are shared through the host's
// cache.
#pragma once

#include <vector>

#include "harness/api/method.h"

namespace qfs::compressors {

/// Errors of `open`: those of zero_shot; `invalid_argument`: no trained file; `data`: a trained
/// file or a bank that is damaged, of another method, form, connector or backbone. Errors of `run`:
/// as zero_shot; also `invalid_argument` for a segment or demonstrations that exceed the backbone's
/// window and for a query of white space, with the example's key.
std::vector<SessionFactory> session_factories();

}  // namespace qfs::compressors
