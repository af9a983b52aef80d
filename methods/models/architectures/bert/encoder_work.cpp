#include "methods/models/architectures/bert/encoder_work.h"

namespace qfs::architectures {

namespace {

constexpr int64_t kFloatBytes = 4;

int64_t elements(const at::Tensor& tensor) { return tensor.defined() ? tensor.numel() : 0; }

}  // namespace

int64_t linear_elements(std::initializer_list<const nn::Linear*> layers) {
  int64_t sum = 0;
  for (const nn::Linear* linear : layers) sum += elements(linear->weight) + elements(linear->bias);
  return sum;
}

int64_t norm_elements(std::initializer_list<const nn::LayerNorm*> norms) {
  int64_t sum = 0;
  for (const nn::LayerNorm* norm : norms) sum += elements(norm->weight) + elements(norm->bias);
  return sum;
}

nn::LayerStack encoder_stack(const EncoderWeights& weights, int64_t element_bytes) {
  const EncoderConfig& c = weights.config;
  nn::LayerStack stack;
  stack.matrices = {{3 * c.hidden, c.hidden, c.layers},
                    {c.hidden, c.hidden, c.layers},
                    {c.intermediate, c.hidden, c.layers},
                    {c.hidden, c.intermediate, c.layers}};
  for (const EncoderLayer& layer : weights.layers) {
    stack.bytes += element_bytes *
                   (linear_elements({&layer.qkv, &layer.attention_output, &layer.up, &layer.down}) +
                    norm_elements({&layer.attention_norm, &layer.output_norm}));
  }
  stack.layers = c.layers;
  stack.width = c.hidden;
  return stack;
}

nn::ModelWork encoder_work(const EncoderWeights& weights) {
  nn::ModelWork work;
  work.input = encoder_stack(weights, kFloatBytes);
  work.causal = false;
  return work;
}

}  // namespace qfs::architectures
