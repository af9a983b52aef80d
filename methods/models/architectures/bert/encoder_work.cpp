#include "methods/models/architectures/bert/encoder_work.h"

namespace qfs::architectures {

nn::LayerStack encoder_stack(const EncoderWeights& weights, int64_t element_bytes) {
  nn::LayerStack stack;
  for (const EncoderLayer& layer : weights.layers) {
    nn::add_layer({&layer.qkv, &layer.attention_output, &layer.up, &layer.down},
                  {&layer.attention_norm, &layer.output_norm}, element_bytes, stack);
  }
  stack.width = weights.config.hidden;
  return stack;
}

nn::ModelWork encoder_work(const EncoderWeights& weights) {
  constexpr int64_t kFloatBytes = 4;
  nn::ModelWork work;
  work.input = encoder_stack(weights, kFloatBytes);
  work.causal = false;
  return work;
}

}  // namespace qfs::architectures
