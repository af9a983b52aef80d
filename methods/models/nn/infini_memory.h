// Compressive memory of attention: what has left a window of tokens, as matrices by head that
// queries read (Infini-attention, Munkhdalai et al. 2024), and beside it what of that an
// instruction asks for (query-focused Infini-attention of IDEAL).
//
// Bound to a decoder by bind_memory and carried by inputs (SequenceInput::memory); read and written
// by segment_attention.h and the caches of models. Structs are plain and functions pure;
// thread-safe. Computes in float32 (float64 of float64 states). LibTorch's exceptions pass through
// but where a Result is returned.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/model_work.h"

namespace qfs::nn {

/// How values are written.
enum class MemoryRule {
  linear,  ///< added to what is there (the paper's equations)
  delta,   ///< but for what their keys read already (the release)
};

/// What divides the products of an instruction's query and keys.
enum class RelevanceScale {
  head,   ///< the square root of a head's width (the release)
  model,  ///< of the stream's (the paper's equation)
};

struct InfiniOptions {
  int64_t segment = 0;  ///< tokens attended to at once
  MemoryRule rule = MemoryRule::delta;
  bool query_focused = false;
  RelevanceScale relevance = RelevanceScale::head;
  int64_t kept = 0;  ///< first tokens of a sequence that never leave, beside those of the segment

  /// Tokens that a window holds.
  int64_t window() const { return segment + kept; }
};

/// What is trained of a layer.
struct InfiniScalars {
  at::Tensor beta;    ///< [heads]: logistic(beta) is the memory's share of the output
  at::Tensor weight;  ///< w_g [head_dim]; only where the memory is query-focused
  at::Tensor bias;    ///< b_g [1]; undefined: none
};

struct InfiniMemory {
  InfiniOptions options;
  double relevance_divisor = 1;
  std::vector<InfiniScalars> layers;

  /// Of its tensors those that gradients reach.
  std::vector<at::Tensor> trained() const;
};

/// For a decoder; scalars are copied to its device, unless they are there, and then gradients reach
/// them. `invalid_argument`: an encoder-decoder, a segment below 1, as many kept tokens as a
/// segment has or more, both together above the decoder's window, scalars of another number or
/// shape than the decoder's layers and heads.
Result<std::shared_ptr<const InfiniMemory>> bind_memory(const InfiniOptions& options,
                                                        std::vector<InfiniScalars> layers,
                                                        const Decoder& decoder);

/// What it takes to run a decoder of this shape with a memory.
SegmentWork work_of(const InfiniMemory& memory, const DecoderShape& shape);

/// What a row remembers in a layer; undefined tensors: nothing yet. Heads that share keys share
/// what does not depend on their queries.
struct LayerMemory {
  at::Tensor all;    ///< M: [kv_heads, dim, dim]
  at::Tensor norm;   ///< z: [kv_heads, dim]
  at::Tensor asked;  ///< M_query: [heads, dim, dim]; only where the memory is query-focused

  bool empty() const { return !all.defined(); }
};

// Below, states of tokens are [heads or kv_heads, tokens, dim], queries and keys not rotated.

/// ELU(x) + 1, without its cancellation far below 0.
at::Tensor sigma(const at::Tensor& x);

/// How much keys matter to an instruction whose mean query is `asking` [heads, dim]:
/// logistic(asking k / divisor), [heads, tokens].
at::Tensor relevance(const at::Tensor& asking, const at::Tensor& keys, double divisor);

/// What is remembered once keys and values are, without gradients. `relevance` [heads, tokens]:
/// values are multiplied by it in M_query; undefined where there is none.
LayerMemory remembered(MemoryRule rule, const LayerMemory& before, const at::Tensor& keys,
                       const at::Tensor& values, const at::Tensor& relevance);

/// What queries read: [heads, tokens, dim] each.
struct Retrieved {
  at::Tensor all;
  at::Tensor asked;  ///< undefined without M_query
};
Retrieved retrieved(const LayerMemory& memory, const at::Tensor& queries);

/// Of both memories, where there are two, by their share for each token: [heads, tokens, dim].
at::Tensor recalled(const InfiniScalars& scalars, const Retrieved& found);

/// A layer's attention: what was recalled beside what the window gave (`local`, whose type it has),
/// each with its share.
at::Tensor merged(const InfiniScalars& scalars, const at::Tensor& past, const at::Tensor& local);

}  // namespace qfs::nn
