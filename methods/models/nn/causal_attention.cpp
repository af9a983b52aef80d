#include "methods/models/nn/causal_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/kernels/packed_attention.h"
#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

namespace {

/// [tokens, heads, head_dim] to [1, heads, tokens, head_dim].
at::Tensor heads_first(const at::Tensor& states) { return states.transpose(0, 1).unsqueeze(0); }

/// The same, each head as often as queries share it.
at::Tensor shared_heads_first(const at::Tensor& states, int64_t sharing) {
  return sharing == 1 ? heads_first(states) : heads_first(states).repeat_interleave(sharing, 1);
}

/// [1, heads, tokens, head_dim] to [tokens, heads, head_dim].
at::Tensor tokens_first(const at::Tensor& states) { return states.squeeze(0).transpose(0, 1); }

/// What projections_of takes apart: queries and keys rotated by `at` where it is defined.
at::Tensor rotated_rows(const Projections& of, const Rotations& at) {
  const int64_t tokens = of.queries.size(0);
  if (!at.cosines.defined()) {
    return at::cat({of.queries.flatten(1), of.keys.flatten(1), of.values.flatten(1)}, 1);
  }
  if (!of.queries.device().is_cpu() || of.queries.scalar_type() != at::kFloat) {
    return at::cat(
        {rotated(of.queries, at).flatten(1), rotated(of.keys, at).flatten(1), of.values.flatten(1)},
        1);
  }
  const int64_t dim = of.queries.size(2);
  const at::Tensor rows =
      at::empty({tokens, (of.queries.size(1) + 2 * of.keys.size(1)) * dim}, of.queries.options());
  const at::Tensor cosines = at.cosines.to(at::kFloat).contiguous();
  const at::Tensor sines = at.sines.to(at::kFloat).contiguous();
  const auto* const cosine = cosines.const_data_ptr<float>();
  const auto* const sine = sines.const_data_ptr<float>();
  auto* const to = rows.mutable_data_ptr<float>();
  const auto rotate = kernels::cpu_kernels().rotate;
  for_items(tokens, [&](int64_t token) {
    float* out = to + token * rows.size(1);
    for (const at::Tensor* part : {&of.queries, &of.keys}) {
      const float* const from = part->const_data_ptr<float>() + token * part->stride(0);
      for (int64_t head = 0; head < part->size(1); ++head, out += dim) {
        rotate(from + head * part->stride(1), cosine + token * dim / 2, sine + token * dim / 2, dim,
               out);
      }
    }
    const float* const value = of.values.const_data_ptr<float>() + token * of.values.stride(0);
    for (int64_t head = 0; head < of.values.size(1); ++head, out += dim) {
      std::copy_n(value + head * of.values.stride(1), dim, out);
    }
  });
  return rows;
}

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// In float32, whatever the type of qkv.
class CausalAttention final : public torch::autograd::Function<CausalAttention> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& qkv,
                            const DecoderShape& shape, const Rotations& at) {
    const at::Tensor rows =
        at.cosines.defined() ? rotated_rows(projections_of(qkv, shape, {}), at) : qkv.contiguous();
    context->save_for_backward({rows, at.cosines, at.sines});
    context->saved_data["heads"] = shape.heads;
    const at::Tensor read = rows.to(at::kFloat);
    const at::Tensor out = at::empty({rows.size(0), shape.heads * shape.head_dim}, read.options());
    kernels::attend_causally(attended(read, shape), out.mutable_data_ptr<float>(), for_items);
    return out.to(qkv.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list upstream) {
    const variable_list kept = context->get_saved_variables();
    const int64_t heads = context->saved_data["heads"].toInt();
    const int64_t dim = upstream.front().size(1) / heads;
    const int64_t kv_heads = (kept[0].size(1) / dim - heads) / 2;
    const DecoderShape shape = {.heads = heads, .kv_heads = kv_heads, .head_dim = dim};
    const at::Tensor read = kept[0].to(at::kFloat);
    const at::Tensor above = upstream.front().to(at::kFloat).contiguous();
    const at::Tensor gradients = at::empty_like(read);
    kernels::attend_causally_back(attended(read, shape), above.const_data_ptr<float>(),
                                  gradients.mutable_data_ptr<float>(), for_items);
    if (!kept[1].defined()) return {gradients.to(kept[0].scalar_type()), {}, {}};
    const at::Tensor turned =
        rotated_rows(projections_of(gradients, shape, {}), {kept[1], kept[2].neg()});
    return {turned.to(kept[0].scalar_type()), {}, {}};
  }

 private:
  static kernels::AttentionRows attended(const at::Tensor& rows, const DecoderShape& shape) {
    return {rows.const_data_ptr<float>(), rows.size(0), shape.heads, shape.kv_heads,
            shape.head_dim};
  }
};

}  // namespace

Rotations rotations_of(const Decoder& decoder, const at::Tensor& places) {
  const auto& rope = decoder.shape().rope;
  if (!rope) return {};
  const int64_t longest = places.max().item<int64_t>() + 1;
  const Rotations table = make_rotations(*rope, decoder.shape().head_dim, longest);
  const auto of_rows = [&](const at::Tensor& values) {
    return values.index_select(0, places).to(decoder.device(), decoder.type());
  };
  return {of_rows(table.cosines), of_rows(table.sines)};
}

Projections projections_of(const at::Tensor& qkv, const DecoderShape& shape, const Rotations& at) {
  const at::Tensor heads =
      qkv.view({qkv.size(0), shape.heads + 2 * shape.kv_heads, shape.head_dim});
  const at::Tensor queries = heads.narrow(1, 0, shape.heads);
  const at::Tensor keys = heads.narrow(1, shape.heads, shape.kv_heads);
  const at::Tensor values = heads.narrow(1, shape.heads + shape.kv_heads, shape.kv_heads);
  if (!at.cosines.defined()) return {queries, keys, values};
  return {rotated(queries, at), rotated(keys, at), values};
}

at::Tensor causal_attention(const Projections& sequence, const Dropout* dropout, uint64_t place) {
  const int64_t sharing = sequence.queries.size(1) / sequence.keys.size(1);
  const int64_t asking = sequence.queries.size(0);
  const int64_t before = sequence.keys.size(0) - asking;
  KeysSeen seen = {.causal = asking > 1 && before == 0};
  std::optional<MaskedAttention> allowed;
  if (asking > 1 && before > 0) {
    seen.mask =
        at::ones({asking, before + asking}, sequence.keys.options().dtype(at::kBool)).tril(before);
    allowed.emplace();
  }
  return tokens_first(attention(heads_first(sequence.queries),
                                shared_heads_first(sequence.keys, sharing),
                                shared_heads_first(sequence.values, sharing), seen, dropout, place))
      .flatten(1);
}

at::Tensor causal_attention(const at::Tensor& qkv, const DecoderShape& shape, const Rotations& at,
                            bool again, const Dropout* dropout, uint64_t place) {
  const bool trained = qkv.requires_grad() || again;
  const bool own = qkv.device().is_cpu() && qkv.scalar_type() != at::kDouble;
  if (trained && own && !drops_attention(dropout)) return CausalAttention::apply(qkv, shape, at);
  return causal_attention(projections_of(qkv, shape, at), dropout, place);
}

}  // namespace qfs::nn
