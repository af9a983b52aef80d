// The session of harness/api/prompt_counter.h: tokens of texts where a model reads them.
//
// Served by the light host. Thread-safe.
#pragma once

#include "harness/api/method.h"

namespace qfs::prompted {

/// `not_found`, `data` or `unavailable` where the model's
/// tokenizer or chat template cannot be read, and what ChatRenderer::open says.
SessionFactory prompt_counter();

}  // namespace qfs::prompted
