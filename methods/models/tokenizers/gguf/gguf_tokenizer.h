// The tokenizer inside a GGUF checkpoint.
//
// Called by open_tokenizer. Thread-safe. Reads `tokenizer.ggml.*`: byte-level BPE with a known
// pre-tokenizer, SentencePiece BPE and WordPiece; other kinds are `unavailable`, naming the kind.
#pragma once

#include <memory>

#include "harness/api/result.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

/// The file stays open as long as the tokenizer lives (its pieces are views into the header).
Result<std::shared_ptr<const VocabularyTokenizer>> make_gguf_tokenizer(
    std::shared_ptr<const checkpoints::GgufFile> file);

}  // namespace qfs::tokenizers
