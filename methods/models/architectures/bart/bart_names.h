// What the tensors of BART-type decoders are called in Hugging Face checkpoints.
//
// Called by load_bart_weights. Names are without ".weight" and ".bias", and without the prefix
// "model." or "led.". Pure; thread-safe. Source: transformers 5.23, modeling_bart.py and
// modeling_led.py.
#pragma once

#include <cstdint>
#include <string>

namespace qfs::architectures {

struct AttentionNames {
  std::string query;
  std::string key;
  std::string value;
  std::string output;
  std::string norm;
};

struct DecoderLayerNames {
  AttentionNames self;
  AttentionNames cross;
  std::string up;
  std::string down;
  std::string output_norm;
};

DecoderLayerNames decoder_layer_names(int64_t index);

/// query, key and value of LED's global attention; `norm` and `output` are empty.
AttentionNames global_attention_names(int64_t encoder_layer);

}  // namespace qfs::architectures
