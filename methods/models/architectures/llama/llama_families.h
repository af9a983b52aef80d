// The model types of the LLaMA family, one row each, with what their configurations differ in.
//
// Used by the reader of config.json. Plain data.
#pragma once

#include <cstdint>
#include <string_view>

namespace qfs::architectures {

struct LlamaFamily {
  std::string_view model_type;
  bool qkv_bias;              ///< always there
  bool optional_bias;         ///< `attention_bias` and `mlp_bias` are read
  std::string_view windows;   ///< key that says whether `sliding_window` counts; empty: it does
  int64_t default_window;     ///< where `sliding_window` is absent, not null; 0: none
  int64_t default_positions;  ///< where `max_position_embeddings` is absent
};

inline constexpr LlamaFamily kLlamaFamilies[] = {
    {"llama", false, true, "", 0, 2048},
    {"mistral", false, false, "", 4096, 131072},
    {"qwen2", true, false, "use_sliding_window", 4096, 32768},
    {"BlueLM", false, false, "", 0, 2048},
};

}  // namespace qfs::architectures
