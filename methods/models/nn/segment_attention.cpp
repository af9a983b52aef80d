#include "methods/models/nn/segment_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <optional>

#include "methods/models/nn/dense.h"
#include "methods/models/nn/fused_memory.h"

namespace qfs::nn {

namespace {

at::Tensor heads_first(const at::Tensor& states) { return states.transpose(0, 1); }

/// Older states without gradients, then newer ones.
at::Tensor behind(const at::Tensor& older, const at::Tensor& newer) {
  return older.defined() && older.size(0) > 0 ? at::cat({older, newer}) : newer;
}

/// Each token to those of the window and to those of the segment up to itself.
at::Tensor attend_window(const Segment& segment, const SegmentState& window) {
  const int64_t before = window.held();
  if (before == 0) return causal_attention({segment.queries, segment.keys, segment.plain.values});
  const Projections seen = {segment.queries, behind(window.rotated, segment.keys),
                            behind(window.values, segment.plain.values)};
  if (segment.queries.size(0) == 1) return causal_attention(seen);
  // Queries of nothing in front, so that the triangle is that of equal lengths, which needs no
  // mask.
  const at::Tensor queries = at::constant_pad_nd(segment.queries, {0, 0, 0, 0, before, 0});
  return causal_attention({queries, seen.keys, seen.values})
      .narrow(0, before, segment.queries.size(0));
}

/// Takes the oldest tokens behind the kept ones out of the window.
Leaving leave(const InfiniMemory& memory, int64_t tokens, SegmentState& state) {
  const int64_t kept = memory.options.kept;
  Leaving leaving = {state.keys.narrow(0, kept, tokens), state.values.narrow(0, kept, tokens), {}};
  if (state.asking.defined()) {
    leaving.relevance =
        relevance(state.asking, heads_first(leaving.keys), memory.relevance_divisor);
  }
  const int64_t left = state.held() - tokens - kept;
  for (at::Tensor* states : {&state.keys, &state.rotated, &state.values}) {
    *states = behind(states->narrow(0, 0, kept), states->narrow(0, kept + tokens, left));
  }
  return leaving;
}

/// Remembers what leaves. Then what the queries recall, merged with what the window gave them.
at::Tensor pass(MemoryRule rule, const InfiniScalars& scalars, const Leaving& leaving,
                const at::Tensor& queries, const at::Tensor& local, LayerMemory& memory) {
  if (has_memory_kernel(queries)) {
    return pass_by_kernel(rule, scalars, leaving, queries, local, memory);
  }
  memory = remembered(rule, memory, heads_first(leaving.keys), heads_first(leaving.values),
                      leaving.relevance);
  const at::Tensor past = recalled(scalars, retrieved(memory, heads_first(queries)));
  return heads_first(merged(scalars, past, heads_first(local.view(queries.sizes())))).flatten(1);
}

}  // namespace

at::Tensor attend_segment(const InfiniMemory& memory, size_t layer, const Segment& segment,
                          SegmentState& state) {
  const int64_t beyond = state.held() + segment.queries.size(0) - memory.options.window();
  // Once a segment has moved something out of the window, each further one does.
  std::optional<Leaving> leaving;
  if (beyond > 0) leaving = leave(memory, beyond, state);
  at::Tensor attended = attend_window(segment, state);
  if (leaving) {
    attended = pass(memory.options.rule, memory.layers[layer], *leaving, segment.plain.queries,
                    attended, state.memory);
  }
  // Copies, so that the states of all heads that they are parts of can go.
  const auto add = [](at::Tensor& held, const at::Tensor& newer) {
    held = behind(held, newer.detach()).contiguous();
  };
  add(state.keys, segment.plain.keys);
  add(state.rotated, segment.keys);
  add(state.values, segment.plain.values);
  return attended;
}

at::Tensor mean_query(const Linear& qkv, const at::Tensor& read, const DecoderShape& shape) {
  const c10::AutoGradMode without_gradients(false);
  Linear query = {qkv.weight.narrow(0, 0, shape.query_width()), {}, qkv.packed};
  if (qkv.bias.defined()) query.bias = qkv.bias.narrow(0, 0, shape.query_width());
  const at::ScalarType wide = read.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor mean = read.detach().mean(0, true, wide).to(read.scalar_type());
  return apply(query, mean).to(wide).view({shape.heads, shape.head_dim});
}

std::vector<int64_t> segment_lengths(int64_t tokens, int64_t segment, int64_t stepped) {
  std::vector<int64_t> lengths;
  for (int64_t left = tokens - stepped; left > 0; left -= segment) {
    lengths.push_back(std::min(left, segment));
  }
  lengths.insert(lengths.end(), static_cast<size_t>(stepped), 1);
  return lengths;
}

}  // namespace qfs::nn
