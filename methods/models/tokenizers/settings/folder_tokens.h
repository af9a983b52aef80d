// What a folder says about tokens beside the tokenizer's own file: tokens that it adds, and which
// ones are special.
//
// Called by the openers of tokenizer files. Pure; thread-safe. Source: transformers 5.23,
// tokenization_utils_tokenizers.py.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/tokenizers/pipeline/pipeline_tokenizer.h"
#include "methods/models/tokenizers/settings/tokenizer_config.h"

namespace qfs::tokenizers {

/// The id of a token or piece with this text.
std::optional<int32_t> find_token(const PipelineParts& parts, std::string_view text);

/// Puts the folder's tokens to those of the file; the folder's word holds about tokens of both.
/// `parts` has its model. `data`: a token has another id than in the file, or the id of another.
Status add_folder_tokens(const TokenizerConfig& config, const std::string& source,
                         PipelineParts& parts);

}  // namespace qfs::tokenizers
