// SnippetScorer: a BERT-type encoder that scores the snippets of a document for a query.
//
// Opened by the sessions of dyle (its extractor) and of what a locator ranks; computes on the CPU
// in float32 (as its weights are). Immutable; thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/architectures/bert/encoder_weights.h"
#include "methods/models/checkpoints/checkpoint.h"
#include "methods/models/nn/dropout.h"
#include "methods/models/nn/recompute.h"
#include "methods/models/nn/trained_weights.h"
#include "methods/models/peft/lora.h"
#include "methods/models/ranking/packing.h"
#include "methods/models/ranking/snippets.h"
#include "methods/models/tokenizers/tokenizer.h"
#include "methods/models/training/optimizer.h"

namespace qfs::ranking {

/// The tensor of a score head that scores by similarity, too.
inline constexpr const char* kSimilarity = "classifier.similarity";

/// How an encoder reads a document.
struct ChunkRule {
  int64_t chunk_tokens = 512;
  int64_t max_chunks = 50;
  bool padded = false;  ///< chunks are filled with padding that is attended to
  bool query_apart = false;
};

class SnippetScorer {
 public:
  /// Verifies the declared digest and reads the folder; weights come from `cache`. Errors: those of
  /// load_encoder_weights and the tokenizer; `unavailable` for an encoder of another type than
  /// BERT's and RoBERTa's.
  static Result<std::shared_ptr<const SnippetScorer>> open(const Resource& model,
                                                           ResourceCache& cache);

  SnippetScorer(std::shared_ptr<const architectures::EncoderWeights> weights,
                std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer);

  int64_t width() const { return weights_->config.hidden; }
  /// That the encoder was trained with.
  const nn::DropoutRates& dropout() const { return weights_->config.dropout; }
  /// The encoder's own weights, by the names that training uses.
  nn::WeightsByName weights() const;
  /// The same scorer over other values of them, which gradients reach.
  std::shared_ptr<const SnippetScorer> over(const nn::WeightsByName& values) const;
  /// As transformers names them ("roberta.encoder.layer.0.…"); without a pooler.
  nn::WeightsByName checkpoint() const;
  /// What those names begin with: "roberta.", "bert.".
  std::string prefix() const;
  /// The same scorer over the tensors of a file with these names; others may be there. `path` names
  /// it; errors as read_weights.
  Result<std::shared_ptr<const SnippetScorer>> read(
      std::shared_ptr<const checkpoints::Checkpoint> file, const std::string& path) const;
  peft::AdaptableLayers layers() const;
  /// Null without any.
  Result<std::shared_ptr<const nn::Adapters>> bind(const nn::LowRankByName& layers) const;

  /// What it reads. Errors: those of pack_snippets; `invalid_argument` for chunks longer than the
  /// encoder reads.
  Result<PackedSnippets> pack(const std::string& query, const std::vector<Snippet>& snippets,
                              const ChunkRule& rule) const;

  /// Operations of reading them, of matrix products alone.
  int64_t flops(const PackedSnippets& packed) const;

  /// The scores of the visible snippets: [L]. Gradients reach the adapters (or null) and the head:
  /// "classifier.weight" [1, d] and "classifier.bias" [1] of the state at a snippet's last token,
  /// and, where it is there, "classifier.similarity" [1], by which the cosine of the means of the
  /// snippet's states and of the query's, read by itself, is multiplied (beyond the paper; such
  /// means are what sentence encoders are trained for). `dropout`, or null, falls on the states at
  /// last tokens, too. Errors: those of the encoder.
  Result<at::Tensor> scores(const PackedSnippets& packed, const training::NamedTensors& head,
                            std::shared_ptr<const nn::Adapters> adapters,
                            nn::Recompute recompute = nn::Recompute::nothing,
                            const nn::Dropout* dropout = nullptr) const;

 private:
  std::shared_ptr<const architectures::EncoderWeights> weights_;
  std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer_;
};

}  // namespace qfs::ranking
