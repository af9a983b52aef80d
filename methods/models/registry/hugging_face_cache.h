// Finds a model in the Hugging Face cache of this machine, without a network.
//
// Called by the backbone registry. Layout: models--ORG--NAME/{refs,snapshots} as written by
// huggingface_hub. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs::registry {

/// The snapshot folder of "org/name@revision" (a commit, branch or tag; "main" when left out).
/// `unavailable` when it is not there, with the command that fetches it; `invalid_argument` when
/// the text is not of that form.
Result<std::string> hugging_face_snapshot(std::string_view name);

}  // namespace qfs::registry
