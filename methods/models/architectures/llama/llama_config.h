// The shape of a LLaMA-type model, as read and checked from a GGUF file's metadata or a
// config.json.
//
// Used by the weight loader and the forward pass. Plain data.
#pragma once

#include <cstdint>

#include "harness/api/result.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/checkpoints/model_config.h"
#include "methods/models/checkpoints/model_directory.h"

namespace qfs::architectures {

struct LlamaConfig {
  int64_t layers = 0;
  int64_t hidden = 0;        ///< model width
  int64_t intermediate = 0;  ///< width of the gated feed-forward layer
  int64_t heads = 0;         ///< query heads
  int64_t kv_heads = 0;      ///< key and value heads (grouped-query attention); divides `heads`
  int64_t head_dim = 0;      ///< even
  int64_t vocabulary = 0;
  int64_t context = 0;  ///< longest sequence, prompt and output together
  float rms_eps = 0;    ///< exactly the float32 of the file
  checkpoints::RopeConfig rope;

  // Projections with a bias: none in LLaMA, those of queries, keys and values in Qwen2.
  bool qkv_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  bool embedding_norm = false;  ///< BlueLM: a LayerNorm behind the embedding ("stable embedding")
  bool tied = false;            ///< the head is the embedding

  /// Of the embedding's LayerNorm; Open-Llama's code, BlueLM's model for it, leaves LibTorch's.
  static constexpr float kEmbeddingNormEps = 1e-5f;

  int64_t query_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }
  /// Keys and values that a position of a row leaves in the cache.
  int64_t cache_elements() const { return 2 * layers * kv_width(); }
};

/// `data`: a key is missing or impossible. `unavailable`: another architecture, or a feature of
/// this one that the forward pass lacks (RoPE scaling, experts).
Result<LlamaConfig> read_llama_config(const checkpoints::GgufFile& file);

/// The same from a Hugging Face folder: model types llama, mistral, qwen2 and BlueLM. Where the
/// sliding window or dynamic RoPE scaling would begin to matter, `context` ends.
Result<LlamaConfig> read_llama_config(const checkpoints::ModelDirectory& directory);

}  // namespace qfs::architectures
