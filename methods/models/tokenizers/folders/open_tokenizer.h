// Opens the tokenizer of a cell, whatever form it has: built in, in a GGUF file, a tokenizer file
// or folder.
//
// Called by sessions. Thread-safe.
#pragma once

#include <memory>

#include "harness/api/method.h"
#include "harness/api/result.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

/// A built-in tokenizer, or the one in the GGUF file, tokenizer file or folder at `resource.path`
/// (tokenizer_files.h), whose digest must equal `resource.digest` (when given). Errors: `not_found`
/// (no such file), `data` (malformed, or another digest), `unavailable` (a tokenizer or
/// pre-tokenizer kind that this program does not have).
Result<std::shared_ptr<const Tokenizer>> open_tokenizer(const Resource& resource);
/// Once for all sessions of a host.
Result<std::shared_ptr<const Tokenizer>> open_tokenizer(const Resource& resource,
                                                        ResourceCache& cache);

/// As open_tokenizer, for resources that have a vocabulary; `invalid_argument` for built-in ones.
Result<std::shared_ptr<const VocabularyTokenizer>> open_vocabulary_tokenizer(
    const Resource& resource);

}  // namespace qfs::tokenizers
