// SelfCP (Gao et al. 2024, arXiv 2405.17052): a frozen language model reads a part of a document in
// front of copies of a learned tag; what it makes of the tags goes through a connector and stands
// for the part.
//
// Made by the sessions of `selfcp`. As session_compressor.h.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "methods/compressors/session_compressor.h"

namespace qfs::compressors {

// Names of the release's tensors.
inline constexpr const char* kTrainedEmbeddings = "trained_embeddings.weight";
inline constexpr const char* kConnectorWeight = "mlp.0.weight";
inline constexpr const char* kConnectorBias = "mlp.0.bias";
inline constexpr const char* kConnectorNorm = "norm.weight";
inline constexpr const char* kConnectorNormBias = "norm.bias";

struct SelfcpForm {
  /// Of the table of trained embeddings: the tag; separator and tag; those and what holds the place
  /// of earlier memory, which is not read.
  int64_t rows = 1;
  bool bias = true;
  bool norm = true;       ///< LayerNorm behind the linear layer
  int32_t separator = 3;  ///< between the query and what is compressed
  int32_t tag = 4;        ///< whose embedding the tag begins with
};

/// "linear", "linear_bias", "linear_bias_ln".
const char* connector_name(const SelfcpForm& form);

std::map<std::string, std::vector<int64_t>> selfcp_shapes(const SelfcpForm& form, int64_t hidden);

/// Values that training begins with: the tag's (and the separator's) own embedding, PyTorch's
/// initialization of the connector. `scaled`: what the connector makes at first is as large as the
/// embeddings. `invalid_argument`: an id outside the vocabulary.
Result<training::NamedTensors> new_selfcp(const SelfcpForm& form, const nn::Decoder& decoder,
                                          uint64_t seed, bool scaled);

/// How prompts are read where no strategy is drawn.
struct SelfcpReading {
  SplitRules rules;
  bool window_counts_all = false;  ///< the window holds the compressor's whole input
  int64_t segments_at_once = 8;
};

/// How a training draws.
struct SelfcpDraws {
  std::optional<Side> side;  ///< fixed; none: a fair coin
  bool released = false;     ///< the release's five ways
  bool whole = false;        ///< all is compressed, of one window
  int64_t least_ratio = 2;
  int64_t largest_ratio = 16;
};

class Selfcp final : public TrainedCompressor {
 public:
  Selfcp(SelfcpForm form, training::NamedTensors tensors,
         std::shared_ptr<const nn::Decoder> decoder, SelfcpReading reading, SelfcpDraws draws = {});

  Result<Plan> plan(const PromptParts& parts) const override;
  Result<Plan> drawn_plan(const PromptParts& parts, Rng* rng) const override;
  /// Z of each segment: [memory, hidden]. `invalid_argument`: a segment that with its head and
  /// memory exceeds the backbone's window.
  Result<std::vector<Compressed>> compress(std::span<const CompressionTask> tasks) const override;
  int32_t placeholder() const override { return form_.tag; }

  training::NamedTensors tensors() const override { return tensors_; }
  void replace(const training::NamedTensors& tensors) override { tensors_ = tensors; }
  void set_recompute(nn::Recompute recompute) override { recompute_ = recompute; }

  /// What is read for a segment that sees no other.
  ReadPass pass_over(const PromptParts& parts, const Segment& segment) const;

 private:
  /// The connector alone: H [rows, hidden] to Z.
  at::Tensor connected(const at::Tensor& states) const;
  /// What is read for one segment; `earlier`: memory of those before it.
  nn::SequenceInput compressor_input(const CompressionTask& task, const Segment& segment,
                                     std::span<const Piece> earlier) const;

  SelfcpForm form_;
  training::NamedTensors tensors_;
  std::shared_ptr<const nn::Decoder> decoder_;
  SelfcpReading reading_;
  SelfcpDraws draws_;
  nn::Recompute recompute_ = nn::Recompute::nothing;
};

}  // namespace qfs::compressors
