// LLMLingua as a compressor: segments become those of their tokens that a small language model
// finds surprising (lingua.h).
//
// Made by the session of `llmlingua`. As session_compressor.h.
#pragma once

#include <memory>

#include "methods/compressors/lingua.h"
#include "methods/compressors/session_compressor.h"

namespace qfs::compressors {

struct LinguaReading {
  SplitRules rules;
  bool released = false;  ///< as the tool chooses, not exactly as many tokens
  int64_t window = 200;   ///< tokens that are chosen from at once
  int32_t begin = 0;      ///< the token in front
};

class Lingua final : public Compressor {
 public:
  /// `decoder`: the small model, which has the generator's vocabulary.
  Lingua(std::shared_ptr<const nn::Decoder> decoder, LinguaReading reading)
      : decoder_(std::move(decoder)), reading_(reading) {}

  Result<Plan> plan(const PromptParts& parts) const override;
  Result<std::vector<Compressed>> compress(std::span<const CompressionTask> tasks) const override;

 private:
  std::shared_ptr<const nn::Decoder> decoder_;
  LinguaReading reading_;
};

}  // namespace qfs::compressors
