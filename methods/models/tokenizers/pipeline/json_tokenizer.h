// tokenizer.json, the file of Hugging Face "fast" tokenizers.
//
// Called by the opener of tokenizer files. Parsing is bounded (256 MiB, depth 64). A malformed file
// is `data`, a construct that this program does not have `unavailable`, both with the JSON pointer.
// The truncation and padding that a file may carry are not applied. Pure; thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/tokenizers/pipeline/json_overrides.h"
#include "methods/models/tokenizers/pipeline/pipeline_tokenizer.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

/// The parts of the tokenizer; `source` names the file in errors.
Result<PipelineParts> read_json_tokenizer(std::string_view text, const std::string& source,
                                          const JsonOverrides& overrides = {});

/// The tokenizer of the file alone.
Result<std::shared_ptr<const VocabularyTokenizer>> make_json_tokenizer(std::string_view text,
                                                                       const std::string& source);

}  // namespace qfs::tokenizers
