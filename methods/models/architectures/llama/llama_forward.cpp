#include "methods/models/architectures/llama/llama_forward.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "methods/models/nn/rope.h"
#include "methods/models/nn/runtime/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

class WholeSequence {
 public:
  WholeSequence(const DeviceLlamaWeights& weights, int64_t count)
      : weights_(weights), count_(count) {
    const LlamaConfig& c = weights.config;
    const nn::Rotations rotations = nn::make_rotations(c.rope, c.head_dim, count);
    cosines_ = rotations.cosines.to(weights.embedding.options());
    sines_ = rotations.sines.to(weights.embedding.options());
  }

  at::Tensor attention(const DeviceLlamaLayer& layer, const at::Tensor& hidden) const {
    const LlamaConfig& c = weights_.config;
    const at::Tensor qkv = linear(normed(hidden, layer.attention_norm), layer.qkv, layer.qkv_bias);
    const auto heads = [&](int64_t first, int64_t number) {
      return qkv.narrow(1, first * c.head_dim, number * c.head_dim)
          .view({1, count_, number, c.head_dim})
          .transpose(1, 2);
    };
    const auto shared = [&](const at::Tensor& keys) {
      return keys.repeat_interleave(c.heads / c.kv_heads, 1);
    };
    const at::Tensor attended = at::scaled_dot_product_attention(
        rotated(heads(0, c.heads)), shared(rotated(heads(c.heads, c.kv_heads))),
        shared(heads(c.heads + c.kv_heads, c.kv_heads)), std::nullopt, 0.0, true);
    return linear(attended.squeeze(0).transpose(0, 1).flatten(1), layer.attention_output,
                  layer.output_bias);
  }

  at::Tensor feed_forward(const DeviceLlamaLayer& layer, const at::Tensor& hidden) const {
    const int64_t width = weights_.config.intermediate;
    const at::Tensor gate_up =
        linear(normed(hidden, layer.mlp_norm), layer.gate_up, layer.gate_up_bias);
    const at::Tensor inner =
        at::silu(gate_up.narrow(1, 0, width)) * gate_up.narrow(1, width, width);
    return linear(inner, layer.down, layer.down_bias);
  }

  at::Tensor logits(const at::Tensor& hidden) const {
    return at::linear(normed(hidden, weights_.output_norm), weights_.head);
  }

 private:
  static at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    return at::linear(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
  }

  at::Tensor normed(const at::Tensor& hidden, const at::Tensor& weight) const {
    return at::rms_norm(hidden, {weights_.config.hidden}, weight, weights_.config.rms_eps);
  }

  /// Pairs (i, i + dim / 2) of [1, heads, tokens, dim]: Su et al. 2021, half-split layout.
  at::Tensor rotated(const at::Tensor& heads) const {
    const int64_t half = weights_.config.head_dim / 2;
    const at::Tensor first = heads.narrow(3, 0, half);
    const at::Tensor second = heads.narrow(3, half, half);
    return at::cat({first * cosines_ - second * sines_, second * cosines_ + first * sines_}, 3);
  }

  const DeviceLlamaWeights& weights_;
  int64_t count_;
  at::Tensor cosines_;
  at::Tensor sines_;
};

}  // namespace

Result<at::Tensor> llama_logits(const DeviceLlamaWeights& weights, std::span<const int32_t> ids) {
  const LlamaConfig& config = weights.config;
  const auto count = static_cast<int64_t>(ids.size());
  if (count == 0 || count > config.context) {
    return invalid_argument("a sequence of " + std::to_string(count) +
                            " tokens; the backbone's window has " + std::to_string(config.context));
  }
  if (Status status = nn::check_token_ids(ids, config.vocabulary); !status.ok())
    return status.error();
  return nn::guarded("reading a sequence", [&]() -> Result<at::Tensor> {
    const WholeSequence sequence(weights, count);
    const std::vector<int64_t> tokens(ids.begin(), ids.end());
    at::Tensor hidden = embed(weights, at::tensor(tokens).to(weights.embedding.device()));
    for (const DeviceLlamaLayer& layer : weights.layers) {
      hidden = hidden + sequence.attention(layer, hidden);
      hidden = hidden + sequence.feed_forward(layer, hidden);
    }
    return sequence.logits(hidden);
  });
}

}  // namespace qfs::architectures
