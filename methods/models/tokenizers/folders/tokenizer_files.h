// Opens the tokenizer of a published model, in whichever of the usual files it is.
//
// Called by open_vocabulary_tokenizer and by loaders of Hugging Face folders. Errors: `not_found`
// (no such file, or a folder without tokenizer files), `data` (malformed; `where` names file and
// JSON pointer or line), `unavailable` (a construct that this program does not have). Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "harness/api/result.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

/// A folder: tokenizer.json, else a SentencePiece or tiktoken model (tokenizer.model, spiece.model,
/// sentencepiece.bpe.model), else vocab.json with merges.txt, else vocab.txt; special tokens and
/// switches from tokenizer_config.json and special_tokens_map.json. A file: one of these (the
/// others are looked for beside it only for vocab.json and merges.txt), or a GGUF file.
Result<std::shared_ptr<const VocabularyTokenizer>> open_tokenizer_files(const std::string& path);

/// The digest that names the tokenizer at `path`: of the file, or of the folder's tokenizer files
/// (checkpoints::files_digest).
Result<std::string> tokenizer_files_digest(const std::string& path);

}  // namespace qfs::tokenizers
