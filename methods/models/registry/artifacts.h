// Trained files that a sweep names: where the bytes lie, their digest, and what their metadata say
// about the training that made them.
//
// Called by the driver (plan); sessions read the tensors. Torch-free. Thread-safe.
#pragma once

#include <string>

#include "harness/api/method.h"
#include "harness/api/result.h"

namespace qfs::registry {

/// `path`: a safetensors file, or a folder with one: as Hugging Face PEFT writes it
/// (adapter_config.json beside adapter_model.safetensors), a model's, of another name if there is
/// no other; or with DYLE's extractor and generator apart, which are one model: the folder is the
/// artifact's path then. A file of ours names method, backbone, training cell and
/// recipe in its metadata; of another one only the file is known, of a PEFT folder also its rank
/// and alpha. Errors: `not_found`; `data` for bytes that are no safetensors file.
Result<ArtifactFacts> resolve_artifact(const std::string& path);

}  // namespace qfs::registry
