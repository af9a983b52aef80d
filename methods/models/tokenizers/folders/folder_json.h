// tokenizer.json in a folder: what tokenizer_config.json says beside it holds where the class of
// transformers 5.23 heeds it.
//
// Called by open_tokenizer_files. Pure; thread-safe. Errors: those of read_json_tokenizer, and
// `data` where the folder's files contradict one another.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/tokenizers/settings/tokenizer_config.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

Result<std::shared_ptr<const VocabularyTokenizer>> make_folder_json(std::string_view text,
                                                                    const std::string& source,
                                                                    const TokenizerConfig& config);

}  // namespace qfs::tokenizers
