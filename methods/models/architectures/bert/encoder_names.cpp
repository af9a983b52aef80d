#include "methods/models/architectures/bert/encoder_names.h"

#include <map>
#include <stdexcept>

namespace qfs::architectures {

namespace {

EncoderLayerNames bert_layer(int64_t index) {
  const std::string prefix = "encoder.layer." + std::to_string(index) + ".";
  return {.query = prefix + "attention.self.query",
          .key = prefix + "attention.self.key",
          .value = prefix + "attention.self.value",
          .attention_output = prefix + "attention.output.dense",
          .attention_norm = prefix + "attention.output.LayerNorm",
          .up = prefix + "intermediate.dense",
          .down = prefix + "output.dense",
          .output_norm = prefix + "output.LayerNorm"};
}

EncoderLayerNames distilbert_layer(int64_t index) {
  const std::string prefix = "transformer.layer." + std::to_string(index) + ".";
  return {.query = prefix + "attention.q_lin",
          .key = prefix + "attention.k_lin",
          .value = prefix + "attention.v_lin",
          .attention_output = prefix + "attention.out_lin",
          .attention_norm = prefix + "sa_layer_norm",
          .up = prefix + "ffn.lin1",
          .down = prefix + "ffn.lin2",
          .output_norm = prefix + "output_layer_norm"};
}

EncoderLayerNames bart_layer(int64_t index) {
  const std::string prefix = "encoder.layers." + std::to_string(index) + ".";
  return {.query = prefix + "self_attn.q_proj",
          .key = prefix + "self_attn.k_proj",
          .value = prefix + "self_attn.v_proj",
          .attention_output = prefix + "self_attn.out_proj",
          .attention_norm = prefix + "self_attn_layer_norm",
          .up = prefix + "fc1",
          .down = prefix + "fc2",
          .output_norm = prefix + "final_layer_norm"};
}

EncoderLayerNames led_layer(int64_t index) {
  EncoderLayerNames names = bart_layer(index);
  const std::string prefix = "encoder.layers." + std::to_string(index) + ".self_attn.";
  names.query = prefix + "longformer_self_attn.query";
  names.key = prefix + "longformer_self_attn.key";
  names.value = prefix + "longformer_self_attn.value";
  names.attention_output = prefix + "output";
  return names;
}

/// BART and its relatives, which have their decoder in the same file.
EncoderNames bart_like(std::string prefix, EncoderLayerNames (*layer)(int64_t)) {
  return {
      .prefix = std::move(prefix),
      .token_embeddings = {"shared", "encoder.embed_tokens"},
      .positions = "encoder.embed_positions",
      .segments = "",
      .norm = "encoder.layernorm_embedding",
      .last_norm = "encoder.layer_norm",
      .layer = layer,
      .others = {"decoder.*", "shared.weight", "encoder.embed_tokens.weight", "lm_head.*",
                 "final_logits_bias", "encoder.version", "classification_head.*", "qa_outputs.*"}};
}

EncoderNames bert_like(std::string prefix) {
  return {.prefix = std::move(prefix),
          .token_embeddings = {"embeddings.word_embeddings"},
          .positions = "embeddings.position_embeddings",
          .segments = "embeddings.token_type_embeddings",
          .norm = "embeddings.LayerNorm",
          .last_norm = "",
          .layer = &bert_layer,
          .others = {"embeddings.position_ids", "embeddings.token_type_ids", "pooler.*", "cls.*",
                     "lm_head.*", "classifier.*", "qa_outputs.*"}};
}

/// The projections of global attention are read by LED's own loader.
EncoderNames led_names() {
  EncoderNames names = bart_like("led.", &led_layer);
  for (const char* part : {"query", "key", "value"}) {
    for (const char* kind : {".weight", ".bias"}) {
      names.others.push_back(std::string("*longformer_self_attn.") + part + "_global" + kind);
    }
  }
  return names;
}

}  // namespace

const EncoderNames& encoder_names(std::string_view model_type) {
  static const std::map<std::string_view, EncoderNames> kNames = {
      {"bert", bert_like("bert.")},
      {"roberta", bert_like("roberta.")},
      {"distilbert",
       {.prefix = "distilbert.",
        .token_embeddings = {"embeddings.word_embeddings"},
        .positions = "embeddings.position_embeddings",
        .segments = "",
        .norm = "embeddings.LayerNorm",
        .last_norm = "",
        .layer = &distilbert_layer,
        .others = {"embeddings.position_ids", "vocab_*", "pre_classifier.*", "classifier.*",
                   "qa_outputs.*"}}},
      {"bart", bart_like("model.", &bart_layer)},
      {"led", led_names()},
      {"mbart", bart_like("model.", &bart_layer)},
      {"pegasus", bart_like("model.", &bart_layer)},
  };
  const auto found = kNames.find(model_type);
  if (found == kNames.end()) throw std::logic_error("no encoder of this model type was accepted");
  return found->second;
}

}  // namespace qfs::architectures
