#include "methods/models/tokenizers/settings/language_frame.h"

namespace qfs::tokenizers {

std::vector<int32_t> LanguageFrame::before(int32_t language_id) const {
  return language_first ? std::vector{language_id} : std::vector<int32_t>();
}

std::vector<int32_t> LanguageFrame::after(int32_t language_id, int32_t end_id) const {
  return language_first ? std::vector{end_id} : std::vector{end_id, language_id};
}

std::optional<LanguageFrame> language_frame(const TokenizerConfig& config) {
  const bool fifty = config.base_class() == "MBart50Tokenizer";
  if (!fifty && config.base_class() != "MBartTokenizer") return std::nullopt;
  return LanguageFrame{config.source_language.value_or("en_XX"), fifty};
}

}  // namespace qfs::tokenizers
