// A window pass: attention of every token to those within a distance of it, as a part that others
// are joined to.
//
// Called by merged_attention.h, which is given one. Pure; thread-safe. LibTorch's exceptions pass
// through (callers guard).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "methods/models/nn/windowed/attention_part.h"

namespace qfs::backbones {

/// `queries`, `keys`, `values` [1, heads, length, head_dim], last stride 1; `reach`: positions that
/// are seen on each side.
using WindowPass = AttentionPart (*)(const at::Tensor& queries, const at::Tensor& keys,
                                     const at::Tensor& values, int64_t reach);

/// LibTorch's flash attention with a window, where flash_windows.h allows it; its output keeps the
/// type of the queries. Forward only, and refuses to be differentiated: LibTorch would take the
/// gradient of the window alone, as if nothing were joined to it.
AttentionPart flash_window_pass(const at::Tensor& queries, const at::Tensor& keys,
                                const at::Tensor& values, int64_t reach);

/// Its twin for every device and type: a block of queries at a time.
AttentionPart block_window_pass(const at::Tensor& queries, const at::Tensor& keys,
                                const at::Tensor& values, int64_t reach);

}  // namespace qfs::backbones
