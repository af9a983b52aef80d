// Adapters of a decoder's whole layers, beside those of its linear layers (adapters.h): a parallel
// adapter of the MLP, and attention over learned rows that stand before no token.
//
// Values are bound by Adapters::bind; layers meet them through LayerOperations (decoder.h),
// whatever way they are run. Pure; thread-safe; LibTorch's exceptions pass through. Sources: He et
// al. 2022 (parallel adapter); Zhang et al. 2023 (LLaMA-Adapter: zero-init attention over prompts).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace qfs::nn {

/// What is added to an MLP's output for what it reads: Up(SiLU(Down(x))).
struct ParallelMlp {
  at::Tensor down;       ///< [bottleneck, hidden]
  at::Tensor down_bias;  ///< [bottleneck]
  at::Tensor up;         ///< [hidden, bottleneck]
  at::Tensor up_bias;    ///< [hidden]
};

/// Learned rows that a layer's queries attend to besides the text, with a softmax of their own.
struct PromptRows {
  at::Tensor rows;   ///< [slots, hidden], as attention reads its input, but not normed
  at::Tensor gate;   ///< [heads]; 0: the layer is as without
  bool tanh = true;  ///< what is added is multiplied by tanh(gate); else by the gate itself
};

/// The same as a layer attends to them: keys without positions, and values.
struct PromptHeads {
  at::Tensor keys;    ///< [kv_heads, slots, head_dim]
  at::Tensor values;  ///< likewise
  at::Tensor gate;    ///< [heads]: the factor of what is added
};

/// Those of one layer.
struct LayerAdapters {
  std::optional<ParallelMlp> mlp;
  std::optional<PromptHeads> prompt;
};

/// x [rows, hidden] to what is added to the MLP's output, likewise.
at::Tensor apply(const ParallelMlp& mlp, const at::Tensor& x);

/// Queries [rows, heads, head_dim], as they ask the text (rotated), to what is added to attention's
/// output: [rows, heads * head_dim]. Scores are divided by the square root of head_dim; the softmax
/// is float32.
at::Tensor prompt_attention(const at::Tensor& queries, const PromptHeads& prompt);

}  // namespace qfs::nn
