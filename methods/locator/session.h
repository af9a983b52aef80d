// The sessions of `locator`: one that trains the ranker, one that writes the turns that it finds.
//
// Opened by the tensor host. Not thread-safe. Weights and tokenizers are shared through the host's
// cache.
#pragma once

#include "harness/api/method.h"

namespace qfs::locator {

/// Errors of `open`: those of the encoder, the tokenizer and the trained file (ranking/locator.h).
/// Errors of `run` name the example: a query that leaves no room, evidence outside its document.
/// Errors of `fit`: likewise; `data`: no example has a turn to be found; those of training
/// (training/trainer.h).
SessionFactory session_factory();

Result<std::unique_ptr<TrainingSession>> open_training(const SessionRequest& request,
                                                       ResourceCache& cache);

}  // namespace qfs::locator
