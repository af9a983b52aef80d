// What is in a checkpoint: parameters by part, tensors, digest, the memory that it needs.
//
// Called by the host for `qfs-bench model inspect` and `verify`. Reads every header; verify reads
// every byte. Works for checkpoints that no architecture here computes: then `computed` says why
// not. Thread-safe.
#pragma once

#include "harness/api/json.h"
#include "harness/api/method.h"
#include "harness/api/result.h"

namespace qfs::inspect {

/// {path, format, model_type, digest, tensor_types, parameters: {total, embedding, attention,
/// feed_forward, norm, head, other}, stored_bytes, computed, tokenizer, context?, memory?,
/// tensors}. Errors: those of opening the files.
Result<Json> inspect_model(const Resource& resource);

/// Digest, tensors, weights and tokenizer, all read: {path, digest, problems: [text, …]}. Only a
/// place that cannot be opened at all is an error.
Result<Json> verify_model(const Resource& resource);

}  // namespace qfs::inspect
