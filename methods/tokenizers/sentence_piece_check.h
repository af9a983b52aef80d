// Checks a SentencePiece model before the library reads it: on a damaged one the library throws,
// aborts or reads outside its tables.
//
// Called by make_sentence_piece. Pure; thread-safe. `data` names what is wrong. Format:
// sentencepiece_model.proto (messages ModelProto, SentencePiece, NormalizerSpec) and the double
// array of darts-clone 0.32.
#pragma once

#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs::tokenizers {

Status check_sentence_piece_model(std::string_view model, const std::string& source);

}  // namespace qfs::tokenizers
