#include "methods/models/architectures/llama/llama_weights.h"

#include <string>
#include <utility>

#include "methods/models/architectures/llama/llama_names.h"
#include "methods/models/architectures/reading/weight_reader.h"
#include "methods/models/checkpoints/gguf_checkpoint.h"
#include "methods/models/checkpoints/renamed_checkpoint.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::architectures {

namespace {

using checkpoints::Checkpoint;
using Loaded = Result<std::shared_ptr<const LlamaWeights>>;

std::string weight(const std::string& name) { return name + ".weight"; }
std::string bias(const std::string& name) { return name + ".bias"; }

nn::Matrix single(WeightReader& reader, const std::string& name, int64_t rows, int64_t columns) {
  const MatrixPart part{weight(name), rows, 0};
  return reader.matrix({&part, 1}, columns);
}

LlamaLayer read_layer(WeightReader& reader, const LlamaConfig& config,
                      const LlamaLayerNames& names) {
  const int64_t hidden = config.hidden;
  const int64_t head_dim = names.interleaved ? config.head_dim : 0;
  const MatrixPart qkv[] = {{weight(names.query), config.query_width(), head_dim},
                            {weight(names.key), config.kv_width(), head_dim},
                            {weight(names.value), config.kv_width(), 0}};
  const MatrixPart gate_up[] = {{weight(names.gate), config.intermediate, 0},
                                {weight(names.up), config.intermediate, 0}};
  LlamaLayer layer;
  layer.attention_norm = reader.vector(weight(names.attention_norm), hidden);
  layer.qkv = reader.matrix(qkv, hidden);
  layer.attention_output = single(reader, names.attention_output, hidden, config.query_width());
  layer.mlp_norm = reader.vector(weight(names.mlp_norm), hidden);
  layer.gate_up = reader.matrix(gate_up, hidden);
  layer.down = single(reader, names.down, hidden, config.intermediate);
  if (config.qkv_bias) {
    const VectorPart parts[] = {{bias(names.query), config.query_width()},
                                {bias(names.key), config.kv_width()},
                                {bias(names.value), config.kv_width()}};
    layer.qkv_bias = reader.vectors(parts);
  }
  if (config.output_bias) layer.output_bias = reader.vector(bias(names.attention_output), hidden);
  if (config.mlp_bias) {
    const VectorPart parts[] = {{bias(names.gate), config.intermediate},
                                {bias(names.up), config.intermediate}};
    layer.gate_up_bias = reader.vectors(parts);
    layer.down_bias = reader.vector(bias(names.down), hidden);
  }
  reader.allow(names.saved_frequencies);
  return layer;
}

Loaded load(const LlamaConfig& config, const Checkpoint& file, const LlamaNames& names) {
  return nn::guarded("loading '" + file.path() + "'", [&]() -> Loaded {
    auto weights = std::make_shared<LlamaWeights>();
    weights->config = config;
    WeightReader reader(file);
    weights->embedding = single(reader, names.embedding, config.vocabulary, config.hidden);
    if (config.embedding_norm) {
      weights->embedding_norm = reader.vector(weight(names.embedding_norm), config.hidden);
      weights->embedding_norm_bias = reader.vector(bias(names.embedding_norm), config.hidden);
    }
    for (int64_t i = 0; i < config.layers && reader.status().ok(); ++i) {
      weights->layers.push_back(read_layer(reader, config, names.layer(i)));
    }
    weights->output_norm = reader.vector(weight(names.output_norm), config.hidden);
    if (config.tied) {
      weights->head = weights->embedding;
      reader.expect_copy(weight(names.head), weight(names.embedding));
    } else {
      weights->head = single(reader, names.head, config.vocabulary, config.hidden);
    }
    reader.allow(names.saved_frequencies);
    if (!reader.status().ok()) return reader.status().error();
    if (Status status = reader.check_all_used(); !status.ok()) return status.error();
    return std::shared_ptr<const LlamaWeights>(std::move(weights));
  });
}

}  // namespace

Loaded load_llama_weights(const std::shared_ptr<const checkpoints::GgufFile>& file) {
  Result<LlamaConfig> config = read_llama_config(*file);
  if (!config.ok()) return config.error();
  const auto checkpoint = checkpoints::open_gguf_checkpoint(file);
  if (!checkpoint.ok()) return checkpoint.error();
  // A GGUF file says that the head is the embedding by leaving the head out.
  config->tied = (*checkpoint)->find(weight(gguf_llama_names().head)) == nullptr;
  return load(*config, **checkpoint, gguf_llama_names());
}

Loaded load_llama_weights(const checkpoints::ModelDirectory& directory) {
  const Result<LlamaConfig> config = read_llama_config(directory);
  if (!config.ok()) return config.error();
  const auto stored = directory.open_weights();
  if (!stored.ok()) return stored.error();
  // A model that was saved without a head has its names without the prefix.
  const bool bare = (*stored)->find("embed_tokens.weight") != nullptr;
  const auto checkpoint = bare ? checkpoints::replace_prefix(*stored, "", "model.") : stored;
  if (!checkpoint.ok()) return checkpoint.error();
  return load(*config, **checkpoint, hugging_face_llama_names());
}

}  // namespace qfs::architectures
