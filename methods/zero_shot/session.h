// The session of `zero_shot`: renders prompts, runs the backbone, reports the ledger and the times.
//
// Opened by the tensor host. Not thread-safe. Weights and tokenizers are shared through the host's
// cache.
#pragma once

#include "harness/api/method.h"

namespace qfs::zero_shot {

/// Errors of `open`: those of the backbone and the cell's tokenizer, `unavailable` for an unknown
/// chat template. Errors of `run`: `invalid_argument` for an example whose prompt and output exceed
/// the backbone's window, naming it.
SessionFactory session_factory();

/// The sessions of `chunk_merge` and `refine`: as that of zero_shot, with several calls an example.
/// `refine` refuses encoder-decoder backbones.
SessionFactory chunk_merge_factory();
SessionFactory refine_factory();

}  // namespace qfs::zero_shot
