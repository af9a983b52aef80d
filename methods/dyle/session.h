// The sessions of `dyle`: one that trains both models, one that writes.
//
// Opened by the tensor host. Not thread-safe. Weights and tokenizers are shared through the host's
// cache.
#pragma once

#include "harness/api/method.h"

namespace qfs::dyle {

/// Errors of `open`: those of both models; `invalid_argument`: no trained file; those of it
/// (session_artifact.h). Errors of `run` name the example: a document without text, a query that
/// leaves no room. Errors of `fit`: likewise, and those of training (training/trainer.h).
SessionFactory session_factory();

Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache);

}  // namespace qfs::dyle
