// What the tensors of text encoders are called in Hugging Face checkpoints.
//
// Called by load_encoder_weights. Names are without ".weight" and ".bias", and without the prefix
// that a model with a head puts before them. Pure; thread-safe. Source: transformers 5.23, modeling
// files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qfs::architectures {

struct EncoderLayerNames {
  std::string query;
  std::string key;
  std::string value;
  std::string attention_output;
  std::string attention_norm;
  std::string up;
  std::string down;
  std::string output_norm;
};

struct EncoderNames {
  std::string prefix;  ///< "bert.", …
  std::vector<std::string>
      token_embeddings;  ///< places of the table: a shared one, then the encoder's own
  std::string positions;
  std::string segments;  ///< used where the configuration has segments
  std::string norm;
  std::string last_norm;  ///< used where the configuration has `pre_norm`
  EncoderLayerNames (*layer)(int64_t index);
  std::vector<std::string> others;  ///< heads, decoders and buffers: no part of the encoder
};

/// For a model type that read_encoder_config accepts.
const EncoderNames& encoder_names(std::string_view model_type);

}  // namespace qfs::architectures
