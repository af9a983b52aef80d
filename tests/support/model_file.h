// Where the tests find the SmolLM2 checkpoint: in the models folder of the user's cache. Tests that
// need it are skipped by name when it is absent.
#pragma once

#include "methods/models/registry/registry.h"

namespace qfs::test {

/// The checkpoint's resources, or the reason for skipping.
inline Result<Resource> smollm2() { return registry::resolve_backbone("smollm2-135m"); }
inline Result<Resource> smollm2_tokenizer() { return registry::resolve_tokenizer("smollm2-135m"); }

}  // namespace qfs::test
