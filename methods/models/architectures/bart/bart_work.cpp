#include "methods/models/architectures/bart/bart_work.h"

#include "methods/models/architectures/bert/encoder_work.h"

namespace qfs::architectures {

nn::ModelWork bart_work(const BartWeights& weights, const nn::ElementBytes& bytes) {
  constexpr int64_t kFloatBytes = 4;
  const BartConfig& c = weights.config;
  const int64_t element = bytes.weights.value_or(kFloatBytes);
  const int64_t hidden = c.encoder.hidden;
  const int64_t layers = c.decoder_layers;
  nn::ModelWork work;
  work.causal = false;
  work.windows = c.windows;
  work.input = encoder_stack(*weights.encoder, element);
  work.input.matrices.push_back({2 * hidden, hidden, layers});
  nn::LayerStack& output = work.output;
  output.matrices = {{3 * hidden, hidden, layers},
                     {hidden, hidden, 3 * layers},  // both outputs, cross-attention's query
                     {c.decoder_intermediate, hidden, layers},
                     {hidden, c.decoder_intermediate, layers}};
  for (const DecoderLayer& layer : weights.layers) {
    work.input.bytes += element * linear_elements({&layer.cross_key_value});
    output.bytes +=
        element * (linear_elements({&layer.self_qkv, &layer.self_output, &layer.cross_query,
                                    &layer.cross_output, &layer.up, &layer.down}) +
                   norm_elements({&layer.self_norm, &layer.cross_norm, &layer.output_norm}));
  }
  output.layers = layers;
  output.width = hidden;
  for (const nn::GlobalProjections& global : weights.global) {
    work.global_bytes += element * linear_elements({&global.query, &global.key_value});
  }
  work.head = {weights.head.weight.size(0), hidden, 1};
  work.head_bytes = element * linear_elements({&weights.head});
  work.cache_bytes = c.cache_elements() * bytes.caches;
  work.source_bytes = work.cache_bytes;
  return work;
}

}  // namespace qfs::architectures
