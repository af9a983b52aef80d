#include "methods/models/architectures/bart/bart_decoder.h"

namespace qfs::architectures {

namespace {

at::Tensor normed(const BartWeights& weights, const nn::LayerNorm& norm, const at::Tensor& states) {
  return nn::apply(norm, states, weights.config.encoder.norm_eps);
}

/// Residual states after a block, with its norm before it or after the sum.
template <class Block>
at::Tensor add(const BartWeights& weights, const nn::LayerNorm& norm, const at::Tensor& states,
               Block&& block) {
  if (weights.config.encoder.pre_norm) return states + block(normed(weights, norm, states));
  return normed(weights, norm, states + block(states));
}

at::Tensor embed(const BartWeights& weights, const at::Tensor& tokens,
                 const at::Tensor& positions) {
  const BartConfig& config = weights.config;
  at::Tensor embedded = weights.token_embeddings.index_select(0, tokens);
  if (config.encoder.embedding_scale != 1) embedded = embedded * config.encoder.embedding_scale;
  const at::Tensor places =
      weights.positions.narrow(0, config.decoder_first_position, config.decoder_positions());
  const at::Tensor sum = embedded + places.index_select(0, positions);
  return config.encoder.embedding_norm ? normed(weights, weights.norm, sum) : sum;
}

}  // namespace

at::Tensor decoder_states(const BartWeights& weights, const at::Tensor& tokens,
                          const at::Tensor& positions, DecoderOperations& operations) {
  at::Tensor states = embed(weights, tokens, positions);
  for (size_t l = 0; l < weights.layers.size(); ++l) {
    const DecoderLayer& layer = weights.layers[l];
    states = add(weights, layer.self_norm, states, [&](const at::Tensor& read) {
      const at::Tensor seen = operations.attend_past(operations.multiply(layer.self_qkv, read), l);
      return operations.multiply(layer.self_output, seen);
    });
    states = add(weights, layer.cross_norm, states, [&](const at::Tensor& read) {
      const at::Tensor seen =
          operations.attend_source(operations.multiply(layer.cross_query, read), l);
      return operations.multiply(layer.cross_output, seen);
    });
    states = add(weights, layer.output_norm, states, [&](const at::Tensor& read) {
      const at::Tensor inner =
          nn::apply(weights.config.encoder.activation, operations.multiply(layer.up, read));
      return operations.multiply(layer.down, inner);
    });
  }
  return weights.config.encoder.pre_norm ? normed(weights, weights.last_norm, states) : states;
}

at::Tensor decoder_logits(const BartWeights& weights, const at::Tensor& tokens,
                          const at::Tensor& positions, DecoderOperations& operations) {
  return operations.multiply(weights.head, decoder_states(weights, tokens, positions, operations));
}

at::Tensor cross_keys_values(const BartWeights& weights, const DecoderLayer& layer,
                             const at::Tensor& states) {
  const BartConfig& c = weights.config;
  return nn::apply(layer.cross_key_value, states)
      .view({states.size(1), 2, c.decoder_heads, c.decoder_head_dim()})
      .permute({1, 2, 0, 3});
}

}  // namespace qfs::architectures
