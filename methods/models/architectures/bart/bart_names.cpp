#include "methods/models/architectures/bart/bart_names.h"

namespace qfs::architectures {

namespace {

AttentionNames attention_names(const std::string& block) {
  return {.query = block + ".q_proj",
          .key = block + ".k_proj",
          .value = block + ".v_proj",
          .output = block + ".out_proj",
          .norm = block + "_layer_norm"};
}

}  // namespace

DecoderLayerNames decoder_layer_names(int64_t index) {
  const std::string prefix = "decoder.layers." + std::to_string(index) + ".";
  return {.self = attention_names(prefix + "self_attn"),
          .cross = attention_names(prefix + "encoder_attn"),
          .up = prefix + "fc1",
          .down = prefix + "fc2",
          .output_norm = prefix + "final_layer_norm"};
}

AttentionNames global_attention_names(int64_t encoder_layer) {
  const std::string prefix =
      "encoder.layers." + std::to_string(encoder_layer) + ".self_attn.longformer_self_attn.";
  return {.query = prefix + "query_global",
          .key = prefix + "key_global",
          .value = prefix + "value_global",
          .output = "",
          .norm = ""};
}

}  // namespace qfs::architectures
