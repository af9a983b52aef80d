// A SentencePiece model's file: its pieces, and a check before the library reads it, which on a
// damaged one throws, aborts or reads outside its tables.
//
// Called by the openers of tokenizer files. Pure; thread-safe. `data` names what is wrong. Format:
// sentencepiece_model.proto (messages ModelProto, SentencePiece, TrainerSpec, NormalizerSpec) and
// the double array of darts-clone 0.32.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/tokenizers/pipeline/piece_vocabulary.h"

namespace qfs::tokenizers {

struct SentencePieceFile {
  PieceVocabulary pieces;          ///< views into the model; types and scores of each
  std::optional<int32_t> unknown;  ///< the first piece of this type
  bool bpe = false;                ///< else unigram, words or characters
  bool normalizes = false;         ///< other characters than spaces change, or spaces go
};

Result<SentencePieceFile> read_sentence_piece_file(std::string_view model,
                                                   const std::string& source);

}  // namespace qfs::tokenizers
