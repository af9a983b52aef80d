#include "methods/models/architectures/llama/llama_names.h"

namespace qfs::architectures {

namespace {

LlamaLayerNames gguf_layer(int64_t index) {
  const std::string prefix = "blk." + std::to_string(index) + ".";
  return {.attention_norm = prefix + "attn_norm",
          .query = prefix + "attn_q",
          .key = prefix + "attn_k",
          .value = prefix + "attn_v",
          .attention_output = prefix + "attn_output",
          .mlp_norm = prefix + "ffn_norm",
          .gate = prefix + "ffn_gate",
          .up = prefix + "ffn_up",
          .down = prefix + "ffn_down",
          .saved_frequencies = prefix + "attn_rot_embd",
          .interleaved = true};
}

LlamaLayerNames hugging_face_layer(int64_t index) {
  const std::string prefix = "model.layers." + std::to_string(index) + ".";
  return {.attention_norm = prefix + "input_layernorm",
          .query = prefix + "self_attn.q_proj",
          .key = prefix + "self_attn.k_proj",
          .value = prefix + "self_attn.v_proj",
          .attention_output = prefix + "self_attn.o_proj",
          .mlp_norm = prefix + "post_attention_layernorm",
          .gate = prefix + "mlp.gate_proj",
          .up = prefix + "mlp.up_proj",
          .down = prefix + "mlp.down_proj",
          .saved_frequencies = prefix + "self_attn.rotary_emb.inv_freq"};
}

}  // namespace

const LlamaNames& gguf_llama_names() {
  static const LlamaNames kNames = {"token_embd", "", "output_norm", "output", "", &gguf_layer};
  return kNames;
}

const LlamaNames& hugging_face_llama_names() {
  static const LlamaNames kNames = {
      "model.embed_tokens",        "model.embed_layer_norm", "model.norm", "lm_head",
      "model.rotary_emb.inv_freq", &hugging_face_layer};
  return kNames;
}

}  // namespace qfs::architectures
