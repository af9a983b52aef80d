#include "methods/models/architectures/gpt2/gpt2_decoder.h"

namespace qfs::architectures {

at::Tensor gpt2_states(const Gpt2Weights& weights, const at::Tensor& tokens,
                       const at::Tensor& positions, Gpt2Operations& operations) {
  const Gpt2Config& c = weights.config;
  at::Tensor states = weights.token_embeddings.index_select(0, tokens) +
                      weights.positions.index_select(0, positions);
  for (size_t l = 0; l < weights.layers.size(); ++l) {
    const Gpt2Layer& layer = weights.layers[l];
    const at::Tensor qkv =
        operations.multiply(layer.qkv, nn::apply(layer.attention_norm, states, c.norm_eps));
    states = states + operations.multiply(layer.attention_output, operations.attend(qkv, l));
    const at::Tensor inner =
        operations.multiply(layer.up, nn::apply(layer.mlp_norm, states, c.norm_eps));
    states = states + operations.multiply(layer.down, nn::apply(c.activation, inner));
  }
  return nn::apply(weights.last_norm, states, c.norm_eps);
}

}  // namespace qfs::architectures
