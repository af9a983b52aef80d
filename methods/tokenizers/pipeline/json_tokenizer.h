// tokenizer.json, the file of Hugging Face "fast" tokenizers.
//
// Called by the opener of tokenizer files. Parsing is bounded (256 MiB, depth 64). A malformed file
// is `data`, a construct that this program does not have `unavailable`, both with the JSON pointer.
// The truncation and padding that a file may carry are not applied. Pure; thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "methods/tokenizers/language_frame.h"
#include "methods/tokenizers/pipeline/json_overrides.h"
#include "methods/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

/// What tokenizer_config.json says beside the file.
struct JsonTokenizerOptions {
  std::optional<std::string> end_of_sequence;  ///< text of the token
  std::vector<JsonSwitch> switches;
  std::optional<PrependScheme> space_marks;  ///< set_space_marks
  std::optional<LanguageFrame> languages;    ///< around texts instead of the file's tokens
};

/// `source` names the file in errors.
Result<std::shared_ptr<const VocabularyTokenizer>> make_json_tokenizer(
    std::string_view text, const std::string& source, const JsonTokenizerOptions& options = {});

}  // namespace qfs::tokenizers
