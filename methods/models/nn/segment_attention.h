// Attention of a segment of tokens: to those of its window, and through a compressive memory to
// all that has left it (infini_memory.h). A segment ends a window as long as InfiniOptions::segment
// says; where it is shorter, tokens before it fill the window.
//
// Called for whole sequences, in training, and for prompts (sequences.h). Pure; thread-safe.
// Gradients reach the segment's own tokens and the memory's scalars, none what came before.
// LibTorch's exceptions pass through. Source: the order of IDEAL's release: what leaves the
// window is remembered first, then queries read.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "methods/models/nn/causal_attention.h"
#include "methods/models/nn/infini_memory.h"

namespace qfs::nn {

/// What the tokens of a sequence leave in a layer for those behind them; without gradients.
struct SegmentState {
  /// Those of the window, the oldest first, which are the kept ones: [tokens, kv_heads, dim];
  /// undefined: none.
  at::Tensor keys;     ///< not rotated
  at::Tensor rotated;  ///< by their positions; `keys` itself in a decoder without rotations
  at::Tensor values;
  LayerMemory memory;
  at::Tensor asking;  ///< the instruction's mean query [heads, dim], if the memory is query-focused

  int64_t held() const { return keys.defined() ? keys.size(0) : 0; }
};

/// The tokens of a segment in a layer.
struct Segment {
  Projections plain;   ///< before rotation
  at::Tensor queries;  ///< rotated by their positions
  at::Tensor keys;     ///< likewise
};

/// [tokens, heads * head_dim]; `state` becomes what the segment leaves. Of a query-focused memory,
/// state.asking is there.
at::Tensor attend_segment(const InfiniMemory& memory, size_t layer, const Segment& segment,
                          SegmentState& state);

/// The mean query of an instruction: the frozen projection alone of the mean of what the layer
/// reads; `read` [tokens, hidden] of the instruction. [heads, head_dim], without gradients.
at::Tensor mean_query(const Linear& qkv, const at::Tensor& read, const DecoderShape& shape);

/// Lengths of the segments that a sequence is read in: whole ones, a rest, and the last `stepped`
/// tokens one by one, as they are generated.
std::vector<int64_t> segment_lengths(int64_t tokens, int64_t segment, int64_t stepped = 0);

}  // namespace qfs::nn
