// The model types of the LLaMA family, one row each, with what their configurations differ in.
//
// Used by the reader of config.json and by architectures.h. Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace qfs::backbones {

struct LlamaFamily {
  std::string_view model_type;
  bool qkv_bias;             ///< always there
  bool optional_bias;        ///< `attention_bias` and `mlp_bias` are read
  std::string_view windows;  ///< key that says whether `sliding_window` counts; empty: it does
};

inline constexpr LlamaFamily kLlamaFamilies[] = {
    {"llama", false, true, ""},
    {"mistral", false, false, ""},
    {"qwen2", true, false, "use_sliding_window"},
    {"BlueLM", false, false, ""},
};

inline constexpr auto kLlamaModelTypes = [] {
  std::array<std::string_view, std::size(kLlamaFamilies)> types;
  for (size_t i = 0; i < types.size(); ++i) types[i] = kLlamaFamilies[i].model_type;
  return types;
}();

}  // namespace qfs::backbones
