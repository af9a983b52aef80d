#include "methods/models/architectures/gpt2/gpt2_work.h"

#include "methods/models/architectures/bert/encoder_work.h"

namespace qfs::architectures {

nn::ModelWork gpt2_work(const Gpt2Weights& weights, const nn::ElementBytes& bytes) {
  constexpr int64_t kFloatBytes = 4;
  const Gpt2Config& c = weights.config;
  const int64_t element = bytes.weights.value_or(kFloatBytes);
  nn::LayerStack stack;
  stack.matrices = {{3 * c.hidden, c.hidden, c.layers},
                    {c.hidden, c.hidden, c.layers},
                    {c.intermediate, c.hidden, c.layers},
                    {c.hidden, c.intermediate, c.layers}};
  for (const Gpt2Layer& layer : weights.layers) {
    stack.bytes +=
        element * (linear_elements({&layer.qkv, &layer.attention_output, &layer.up, &layer.down}) +
                   norm_elements({&layer.attention_norm, &layer.mlp_norm}));
  }
  stack.layers = c.layers;
  stack.width = c.hidden;
  nn::ModelWork work;
  work.input = stack;
  work.output = stack;
  work.head = {c.vocabulary, c.hidden, 1};
  work.head_bytes =
      element * (linear_elements({&weights.head}) + norm_elements({&weights.last_norm}));
  work.cache_bytes = c.cache_elements() * bytes.caches;
  return work;
}

}  // namespace qfs::architectures
