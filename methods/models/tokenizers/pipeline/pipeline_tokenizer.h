// PipelineTokenizer: added tokens, normalizer, pre-tokenizer, model, template and decoder, put
// together as Hugging Face tokenizers 0.23 does.
//
// Made by the readers of tokenizer.json and of the older formats. Thread-safe; a bounded cache of
// words sits behind a mutex.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/tokenizers/pipeline/added_tokens.h"
#include "methods/models/tokenizers/pipeline/decoder.h"
#include "methods/models/tokenizers/pipeline/model.h"
#include "methods/models/tokenizers/pipeline/normalizer.h"
#include "methods/models/tokenizers/pipeline/pre_tokenizer.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::tokenizers {

/// A part of what is put around texts: one of them, or special tokens.
struct TemplatePart {
  int sequence = -1;         ///< 0: the first text, 1: the second, -1: `ids`
  std::vector<int32_t> ids;  ///< of special tokens
  int32_t type_id = 0;
};

struct InputTemplate {
  std::vector<TemplatePart> single = {{0, {}, 0}};
  std::vector<TemplatePart> pair = {{0, {}, 0}, {1, {}, 1}};
};

/// Each text between the tokens that are given.
InputTemplate template_around(std::optional<int32_t> before, std::optional<int32_t> after);

struct PipelineParts {
  std::vector<AddedToken> added_tokens;
  NormalizerPtr normalizer;       ///< may be null
  PreTokenizerPtr pre_tokenizer;  ///< may be null
  ModelPtr model;                 ///< with byte_symbols, the pre-tokenizer ends in bytes
  bool byte_words = false;        ///< the model reads bytes: the last step is left out
  InputTemplate input_template;
  DecoderPtr decoder;  ///< null: pieces joined by spaces
  std::optional<int32_t> end_of_sequence_id;
};

std::shared_ptr<const VocabularyTokenizer> make_pipeline_tokenizer(PipelineParts parts);

}  // namespace qfs::tokenizers
