// LLMLingua as a compressor: segments become those of their tokens that a small language model
// finds surprising (lingua.h).
//
// Made by the session of `llmlingua`. As session_compressor.h.
#pragma once

#include <memory>
#include <optional>

#include "methods/compressors/lingua.h"
#include "methods/compressors/session_compressor.h"
#include "methods/models/tokenizers/tokenizer.h"

namespace qfs::compressors {

struct LinguaReading {
  SplitRules rules;
  bool released = false;  ///< as the tool chooses, not exactly as many tokens
  int64_t window = 200;   ///< tokens that are chosen from at once
  int32_t begin = 0;      ///< the token in front
};

/// Where the small model has a vocabulary of its own, tokens go to it and back as text.
struct LinguaVocabularies {
  std::shared_ptr<const tokenizers::VocabularyTokenizer> generator;
  std::shared_ptr<const tokenizers::VocabularyTokenizer> small_lm;
};

/// Whether equal ids are equal texts.
bool same_vocabulary(const tokenizers::VocabularyTokenizer& a,
                     const tokenizers::VocabularyTokenizer& b);

class Lingua final : public Compressor {
 public:
  /// `decoder`: the small model, which has the generator's vocabulary where none are given.
  Lingua(std::shared_ptr<const nn::Decoder> decoder, LinguaReading reading,
         std::optional<LinguaVocabularies> vocabularies = {})
      : decoder_(std::move(decoder)), reading_(reading), vocabularies_(std::move(vocabularies)) {}

  Result<Plan> plan(const PromptParts& parts) const override;
  Result<std::vector<Compressed>> compress(std::span<const CompressionTask> tasks) const override;
  /// As many of its tokens as a segment of that length keeps.
  Segment demonstration(Range content) const override;
  /// As the tool chooses: of all of them together, as one piece.
  Result<Compressed> compress_demonstrations(const CompressionTask& task) const override;

 private:
  /// Of the tokens of a task's segments those that are kept; what the small model read is noted in
  /// `passes`. `head`: the small model's, unpacked.
  Result<std::vector<int32_t>> kept_of(const PromptParts& parts, std::span<const Segment> segments,
                                       const nn::Linear& head, std::vector<ReadPass>& passes) const;

  std::shared_ptr<const nn::Decoder> decoder_;
  LinguaReading reading_;
  std::optional<LinguaVocabularies> vocabularies_;
};

}  // namespace qfs::compressors
