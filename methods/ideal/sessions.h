// The sessions of `parallel_adapter`, `prompt_tuning` and `ideal`: those that train and those that
// write.
//
// Opened by the tensor host. Not thread-safe. Weights and tokenizers are shared through the host's
// cache.
#pragma once

#include <vector>

#include "harness/api/method.h"

namespace qfs::ideal {

/// Errors of opening: those of zero_shot; `invalid_argument`: no adapter; `data` for a file that is
/// not of these adapters, or of another backbone or kind than the cell's. Errors of training: those
/// of the backbone and of training/trainer.h.
std::vector<SessionFactory> session_factories();

}  // namespace qfs::ideal
