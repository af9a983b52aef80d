// A GGUF file as a Checkpoint.
//
// Called by loaders that do not care about the format, and by `qfs-bench model`. Names and layouts
// are the file's own (blk.0.attn_q.weight, interleaved query and key rows). Errors are those of
// GgufFile. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "harness/api/result.h"
#include "methods/models/checkpoints/checkpoint.h"
#include "methods/models/checkpoints/gguf.h"

namespace qfs::checkpoints {

Result<std::shared_ptr<const Checkpoint>> open_gguf_checkpoint(
    std::shared_ptr<const GgufFile> file);

}  // namespace qfs::checkpoints
