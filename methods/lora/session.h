// The sessions of `lora`: one that trains an adapter, one that writes with it.
//
// Opened by the tensor host. Not thread-safe. Weights and tokenizers are shared through the host's
// cache.
#pragma once

#include "harness/api/method.h"

namespace qfs::lora {

/// Errors of `open`: those of zero_shot; `invalid_argument`: no adapter; those of a PEFT file
/// (peft/lora.h), and `data` for an adapter that says it is another backbone's. Errors of
/// `open_training`: those of the backbone; of `fit`: `not_found` for targets that it does not have,
/// and those of training (training/trainer.h).
SessionFactory session_factory();

Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache);

}  // namespace qfs::lora
