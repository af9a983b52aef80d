// Compressors that low-rank adapters help: AutoCompressor (Chevalier et al. 2023, arXiv
// 2305.14788), whose summaries gather from segment to segment, and ICAE (Ge et al. 2024, arXiv
// 2307.06945), whose slots hold one context.
//
// Made by the sessions of `autocompressor` and `icae`. As session_compressor.h. What a model makes
// of summary rows or slots is read as it is, without a projection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "methods/compressors/session_compressor.h"

namespace qfs::compressors {

/// The table and the low-rank matrices of a release.
struct LoraForm {
  std::string table;   ///< name of the tensor of trained rows
  std::string before;  ///< of a matrix's name, in front of the decoder's
  std::string after;   ///< behind ".lora_A" and ".lora_B"
  std::vector<std::string> targets;
  double alpha = 16;      ///< where a file does not say it
  int64_t mode_rows = 0;  ///< of the table, behind those that make memory
  const char* rows = "";  ///< what metadata call the number of those that do
};

const LoraForm& autocompressor_form();
const LoraForm& icae_form();

/// Tensors by their names in the file, and the matrices' scale.
struct LoraTensors {
  training::NamedTensors tensors;
  double scale = 1;
  std::map<std::string, std::string> metadata = {};
  bool merged = false;  ///< into the weights of a whole model, which the file has
};

/// Values that training begins with: rows that are the embedding of `row_id`, those of slots apart
/// by noise a tenth as large, and matrices that add nothing. Errors: as peft::new_lora.
Result<LoraTensors> new_lora_tensors(const LoraForm& form, const nn::Decoder& decoder, int64_t rows,
                                     int64_t rank, double alpha, int32_t row_id, uint64_t seed);

/// How documents are read.
struct LoraReading {
  int64_t window = 512;        ///< tokens of a segment, of ICAE's context with the token in front
  int64_t memory = 0;          ///< rows of a segment, at most those of the table
  Ratio ratio = std::nullopt;  ///< a segment's own length has fewer; nothing: all have `memory`
  int32_t begin = 0;           ///< in front of ICAE's context
};

class LoraCompressor : public TrainedCompressor {
 public:
  LoraCompressor(const LoraForm& form, LoraTensors tensors,
                 std::shared_ptr<const nn::Decoder> decoder, LoraReading reading)
      : form_(form),
        tensors_(std::move(tensors)),
        decoder_(std::move(decoder)),
        reading_(reading) {}

  Result<Plan> drawn_plan(const PromptParts& parts, Rng*) const final { return plan(parts); }
  Result<std::vector<Compressed>> compress(std::span<const CompressionTask> tasks) const final;
  bool memory_opens() const final { return true; }

  training::NamedTensors tensors() const final { return tensors_.tensors; }
  void replace(const training::NamedTensors& tensors) final { tensors_.tensors = tensors; }
  void set_recompute(nn::Recompute recompute) final { recompute_ = recompute; }

 protected:
  /// In front of a segment's content, besides earlier memory.
  virtual std::vector<int32_t> in_front() const { return {}; }
  nn::AdapterSet adapters() const;
  /// Multiply-adds of the matrices for each token.
  double beside_token() const;
  /// Rows of a segment of this length.
  int64_t memory_of(int64_t length) const;
  /// Rows of the table.
  at::Tensor rows(int64_t first, int64_t count) const;

  const LoraForm& form_;
  LoraTensors tensors_;
  std::shared_ptr<const nn::Decoder> decoder_;
  LoraReading reading_;
  nn::Recompute recompute_ = nn::Recompute::nothing;
};

/// All of the document in even segments; the generator reads [summaries; prompt], adapted.
class Autocompressor final : public LoraCompressor {
 public:
  using LoraCompressor::LoraCompressor;
  Result<Plan> plan(const PromptParts& parts) const override;
  std::vector<Piece> assemble(const CompressionTask& task,
                              std::span<const Piece> memory) const override;
  /// Behind the summaries of those before it.
  Segment demonstration(Range content) const override;
  nn::AdapterSet generator_adapters() const override { return adapters(); }
  double generator_beside() const override { return beside_token(); }
};

/// The beginning of the document in slots; the generator, not adapted, reads [slots; FT; prompt;
/// FT], and to write the text itself or what follows it [slots; AE] or [slots; LM].
class Icae final : public LoraCompressor {
 public:
  using LoraCompressor::LoraCompressor;
  Result<Plan> plan(const PromptParts& parts) const override;
  std::vector<Piece> assemble(const CompressionTask& task,
                              std::span<const Piece> memory) const override;
  std::vector<Piece> assemble_text(const CompressionTask& task, std::span<const Piece> memory,
                                   bool follows) const override;
  /// A context of its own.
  Segment demonstration(Range content) const override;

 private:
  /// A row of the table behind the slots.
  Piece mode(int64_t index) const;
  std::vector<int32_t> in_front() const override { return {reading_.begin}; }
};

}  // namespace qfs::compressors
