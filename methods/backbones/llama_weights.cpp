#include "methods/backbones/llama_weights.h"

#include <string>
#include <utility>

#include "methods/backbones/torch_runtime.h"
#include "methods/backbones/weight_reader.h"

namespace qfs::backbones {

namespace {

using checkpoints::GgufFile;

Matrix single(WeightReader& reader, const std::string& name, int64_t rows, int64_t columns) {
  const MatrixPart part{name, rows, 0};
  return reader.matrix({&part, 1}, columns);
}

LlamaLayer read_layer(WeightReader& reader, const LlamaConfig& config, int64_t index) {
  const std::string prefix = "blk." + std::to_string(index) + ".";
  const int64_t hidden = config.hidden;
  const MatrixPart qkv[] = {{prefix + "attn_q.weight", config.query_width(), config.head_dim},
                            {prefix + "attn_k.weight", config.kv_width(), config.head_dim},
                            {prefix + "attn_v.weight", config.kv_width(), 0}};
  const MatrixPart gate_up[] = {{prefix + "ffn_gate.weight", config.intermediate, 0},
                                {prefix + "ffn_up.weight", config.intermediate, 0}};
  LlamaLayer layer;
  layer.attention_norm = reader.vector(prefix + "attn_norm.weight", hidden);
  layer.qkv = reader.matrix(qkv, hidden);
  layer.attention_output =
      single(reader, prefix + "attn_output.weight", hidden, config.query_width());
  layer.mlp_norm = reader.vector(prefix + "ffn_norm.weight", hidden);
  layer.gate_up = reader.matrix(gate_up, hidden);
  layer.down = single(reader, prefix + "ffn_down.weight", hidden, config.intermediate);
  return layer;
}

/// cos and sin of position x base^(-2i / head_dim), in float32 throughout and in the order of
/// operations of the Hugging Face implementation, whose rounding they share.
void make_rotations(LlamaWeights& weights) {
  const LlamaConfig& config = weights.config;
  const at::Tensor exponents =
      at::arange(0, config.head_dim, 2).to(at::kFloat) / static_cast<double>(config.head_dim);
  const at::Tensor frequencies = 1.0 / at::pow(at::Scalar(config.rope_base), exponents);
  const at::Tensor positions = at::arange(config.context).to(at::kFloat);
  const at::Tensor angles = at::outer(positions, frequencies);
  weights.cosines = angles.cos();
  weights.sines = angles.sin();
}

}  // namespace

Result<std::shared_ptr<const LlamaWeights>> load_llama_weights(const GgufFile& file) {
  using Loaded = Result<std::shared_ptr<const LlamaWeights>>;
  const Result<LlamaConfig> config = read_llama_config(file);
  if (!config.ok()) return config.error();
  return guarded("loading '" + file.path() + "'", [&]() -> Loaded {
    auto weights = std::make_shared<LlamaWeights>();
    weights->config = *config;
    WeightReader reader(file);
    weights->embedding = single(reader, "token_embd.weight", config->vocabulary, config->hidden);
    for (int64_t i = 0; i < config->layers && reader.status().ok(); ++i) {
      weights->layers.push_back(read_layer(reader, *config, i));
    }
    weights->output_norm = reader.vector("output_norm.weight", config->hidden);
    weights->head = file.tensor("output.weight").ok()
                        ? single(reader, "output.weight", config->vocabulary, config->hidden)
                        : weights->embedding;
    if (!reader.status().ok()) return reader.status().error();
    if (Status status = reader.check_all_used(); !status.ok()) return status.error();
    make_rotations(*weights);
    return std::shared_ptr<const LlamaWeights>(std::move(weights));
  });
}

}  // namespace qfs::backbones
