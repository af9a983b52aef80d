// What mBART and mBART-50 put around a source: its end and its language.
//
// Called by the openers of tokenizer files. Pure; thread-safe. Sources: transformers 5.23,
// tokenization_mbart.py and tokenization_mbart50.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "methods/models/tokenizers/settings/tokenizer_config.h"

namespace qfs::tokenizers {

inline constexpr std::string_view kSourceEnd = "</s>";

struct LanguageFrame {
  std::string language;         ///< `src_lang`, English where tokenizer_config.json names none
  bool language_first = false;  ///< before the text; else behind its end

  std::vector<int32_t> before(int32_t language_id) const;
  std::vector<int32_t> after(int32_t language_id, int32_t end_id) const;
};

/// Nothing for other classes.
std::optional<LanguageFrame> language_frame(const TokenizerConfig& config);

}  // namespace qfs::tokenizers
