// Tokenizers of GGUF files that are put together from the parts of tokenizer.json: byte-level BPE
// with other pre-tokenizers, SentencePiece BPE ("llama"), WordPiece ("bert").
//
// Called by make_gguf_tokenizer for everything but GPT-2's and SmolLM's pre-tokenizers. Errors as
// there. Thread-safe. Source of kinds and patterns: llama-vocab.cpp of llama.cpp (February 2025).
#pragma once

#include <memory>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/checkpoints/gguf.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

/// Whether a value of `tokenizer.ggml.pre` is known here.
bool has_gguf_pre_tokenizer(std::string_view name);

Result<std::shared_ptr<const VocabularyTokenizer>> make_gguf_pipeline(
    const checkpoints::GgufFile& file);

}  // namespace qfs::tokenizers
