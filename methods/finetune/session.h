// The sessions of `finetune`: one that trains a backbone's weights, one that writes with them.
//
// Opened by the tensor host. Not thread-safe. Weights and tokenizers are shared through the host's
// cache.
#pragma once

#include "harness/api/method.h"

namespace qfs::finetune {

/// Errors of `open`: those of zero_shot and of with_trained_weights (prompted/weights_training.h);
/// of `open_training`: those of the backbone; of `fit`: those of make_weights and of training
/// (training/trainer.h).
SessionFactory session_factory();

}  // namespace qfs::finetune
