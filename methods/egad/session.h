// The sessions of `egad`: one that trains, one that writes.
//
// Opened by the tensor host. Not thread-safe. Errors: those of `lora`; `invalid_argument` for
// keywords that leave no room, naming the example; `data` for a dictionary that cannot be read, and
// for a trained file without one.
#pragma once

#include "harness/api/method.h"

namespace qfs::egad {

SessionFactory session_factory();

Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache);

}  // namespace qfs::egad
