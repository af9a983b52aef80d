#include "methods/models/architectures/llama/llama_work.h"

namespace qfs::architectures {

namespace {

constexpr int64_t kFloatBytes = 4;

int64_t bytes_of(const nn::Matrix& matrix, std::optional<int64_t> element_bytes) {
  return matrix.rows * (element_bytes ? matrix.columns * *element_bytes : matrix.row_bytes);
}

int64_t vector_elements(const LlamaLayer& layer) {
  return static_cast<int64_t>(layer.attention_norm.size() + layer.mlp_norm.size() +
                              layer.qkv_bias.size() + layer.output_bias.size() +
                              layer.gate_up_bias.size() + layer.down_bias.size());
}

}  // namespace

nn::ModelWork llama_work(const LlamaWeights& weights, const nn::ElementBytes& bytes) {
  const LlamaConfig& c = weights.config;
  const int64_t element = bytes.weights.value_or(kFloatBytes);
  nn::LayerStack stack;
  stack.matrices = {{c.query_width() + 2 * c.kv_width(), c.hidden, c.layers},
                    {c.hidden, c.query_width(), c.layers},
                    {2 * c.intermediate, c.hidden, c.layers},
                    {c.hidden, c.intermediate, c.layers}};
  for (const LlamaLayer& layer : weights.layers) {
    for (const nn::Matrix* matrix :
         {&layer.qkv, &layer.attention_output, &layer.gate_up, &layer.down}) {
      stack.bytes += bytes_of(*matrix, bytes.weights);
    }
    stack.bytes += vector_elements(layer) * element;
  }
  stack.layers = c.layers;
  stack.width = c.query_width();
  nn::ModelWork work;
  work.input = stack;
  work.output = stack;
  work.head = {c.vocabulary, c.hidden, 1};
  work.head_bytes = bytes_of(weights.head, bytes.weights) + c.hidden * element;
  work.cache_bytes = c.cache_elements() * bytes.caches;
  return work;
}

}  // namespace qfs::architectures
