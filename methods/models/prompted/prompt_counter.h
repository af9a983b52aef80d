// The session of harness/api/prompt_counter.h: tokens of texts where a model reads them.
//
// Served by the light host. Thread-safe.
#pragma once

#include "harness/api/method.h"

namespace qfs::prompted {

/// Errors of `open`: those of the model's tokenizer, chat template and ChatRenderer::open.
SessionFactory prompt_counter();

}  // namespace qfs::prompted
