// The regular expressions behind values of `tokenizer.ggml.pre`, applied one after another.
//
// Used by gguf_pipeline.cpp. Pure; thread-safe. Source: llama-vocab.cpp of llama.cpp (February
// 2025).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qfs::tokenizers {

/// Empty for a name without expressions here.
std::vector<std::string> gguf_patterns(std::string_view name);

std::vector<std::string_view> gguf_pattern_names();

}  // namespace qfs::tokenizers
