// A Checkpoint under other names: prefixes put on or taken off, leading rows left out.
//
// Called by loaders whose model is published under several naming schemes. Views share the
// checkpoint below them and copy nothing. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/checkpoint.h"

namespace qfs::checkpoints {

struct RenamedTensor {
  std::string name;
  std::string source;
  int64_t skipped_rows = 0;  ///< leading entries of the outermost dimension that are left out
};

/// The given tensors under their new names. `data`: a source is missing, a name occurs twice, or
/// fewer rows are there than are left out.
Result<std::shared_ptr<const Checkpoint>> rename_tensors(std::shared_ptr<const Checkpoint> base,
                                                         std::span<const RenamedTensor> tensors);

/// Replaces the prefix `from` by `to` where a name has it; other names stay. Without any such name
/// the checkpoint itself.
Result<std::shared_ptr<const Checkpoint>> replace_prefix(std::shared_ptr<const Checkpoint> base,
                                                         std::string_view from,
                                                         std::string_view to);

/// The tensors whose names have this prefix alone, without it. `data`: there are none.
Result<std::shared_ptr<const Checkpoint>> without_prefix(std::shared_ptr<const Checkpoint> base,
                                                         std::string_view prefix);

/// Norms that are called `LayerNorm.gamma` and `LayerNorm.beta`, as in BERT files that came from
/// TensorFlow, under the names `LayerNorm.weight` and `LayerNorm.bias`, as transformers reads them.
/// Without any such name the checkpoint itself.
Result<std::shared_ptr<const Checkpoint>> rename_tensorflow_norms(
    std::shared_ptr<const Checkpoint> base);

/// LED as AllenAI's own code saves it: prefix "model.", `longformer_self_attn`, and position tables
/// with two leading rows that are never used (16386 rows in the published files).
bool is_native_led(const Checkpoint& checkpoint);

/// A native LED file as Hugging Face's LED names it: prefix "led.", position tables without the two
/// rows; `lm_head.weight` is left out: the head is the shared embedding. The
/// configuration's one-sided `attention_window` must be doubled by the caller.
Result<std::shared_ptr<const Checkpoint>> rename_native_led(std::shared_ptr<const Checkpoint> base);

}  // namespace qfs::checkpoints
