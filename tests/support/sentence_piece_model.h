// The smallest SentencePiece models, by protobuf's rules: pieces with a score and a type.
//
// Used by tests and fuzz targets of tokenizers. Texts are below 100 bytes. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "methods/models/tokenizers/pipeline/piece_vocabulary.h"

namespace qfs::test {

using tokenizers::PieceType;

/// A TrainerSpec of BPE, and a NormalizerSpec that leaves spaces where they are.
inline constexpr std::string_view kPlainBpe("\x12\x02\x18\x02\x1A\x02\x20\x00", 8);

inline std::string sentence_piece_model(
    const std::vector<std::pair<std::string, PieceType>>& pieces, std::string_view specs = "") {
  std::string model;
  for (const auto& [text, type] : pieces) {
    std::string body = "\x0A" + std::string(1, static_cast<char>(text.size())) + text;
    body += "\x15" + std::string("\x00\x00\x80\xBF", 4) + "\x18" +
            std::string(1, static_cast<char>(type));
    model += "\x0A" + std::string(1, static_cast<char>(body.size())) + body;
  }
  return model.append(specs);
}

}  // namespace qfs::test
