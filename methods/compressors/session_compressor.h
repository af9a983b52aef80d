// Compressor: what the methods of this family have in common. A document is cut by a plan, parts of
// it become rows in the place of tokens, or fewer tokens, and a generator reads a sequence of
// pieces.
//
// Implemented here, by session_selfcp.h, session_lora_compressors.h and session_lingua.h; used by
// the sessions that predict and train. Not thread-safe. Gradients pass where they are on.
// LibTorch's exceptions come out as Errors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/api/method.h"
#include "methods/compressors/split.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/recompute.h"
#include "methods/models/training/optimizer.h"

namespace qfs::compressors {

/// Tokens, or rows [n, hidden] in the place of some.
struct Piece {
  std::vector<int32_t> ids = {};
  at::Tensor rows = {};  ///< undefined: tokens

  int64_t size() const { return rows.defined() ? rows.size(0) : static_cast<int64_t>(ids.size()); }
};

/// A sequence of pieces as a model reads it; rows stand in the place of `placeholder`.
nn::SequenceInput input_of(std::span<const Piece> pieces, int32_t placeholder);

/// A prompt, cut where its document begins and ends.
struct PromptParts {
  std::vector<int32_t> head;  ///< with the query, where the template has it in front
  std::vector<int32_t> content;
  std::vector<int32_t> tail;
};

/// `invalid_argument` for a prompt without a token of a document.
Result<PromptParts> parts_of(const nn::SequenceInput& prompt);

/// What an example is compressed by. What it refers to outlives it.
struct CompressionTask {
  const PromptParts& parts;
  const Plan& plan;
};

/// What was read to compress, for counts of work.
struct ReadPass {
  int64_t tokens = 0;
  int64_t headed = 0;  ///< of them through the output head
  double beside = 0;   ///< multiply-adds besides the model's own: connector, adapters
  /// Of the model that read; null: of the generator.
  const nn::SequenceShape* shape = nullptr;
};

struct Compressed {
  std::vector<Piece> memory;  ///< of each segment
  std::vector<ReadPass> passes;
};

class Compressor {
 public:
  virtual ~Compressor() = default;

  /// How a document is read.
  virtual Result<Plan> plan(const PromptParts& parts) const = 0;
  /// Of each task what its segments become.
  virtual Result<std::vector<Compressed>> compress(
      std::span<const CompressionTask> tasks) const = 0;
  /// What the generator reads; `memory`: of the segments that it reads.
  virtual std::vector<Piece> assemble(const CompressionTask& task,
                                      std::span<const Piece> memory) const;
  /// How one of several demonstrations is read: token by token, unless a method says otherwise.
  virtual Segment demonstration(Range content) const { return {content, content.count}; }
  /// What demonstrations, the segments of a plan, become: as segments do, unless a method says
  /// otherwise.
  virtual Result<Compressed> compress_demonstrations(const CompressionTask& task) const;
  /// Whether memory stands in front of all else, and not behind what every prompt opens with.
  virtual bool memory_opens() const { return false; }
  /// What stands where rows do.
  virtual int32_t placeholder() const { return 0; }
  /// Adapters of the generator, or none.
  virtual nn::AdapterSet generator_adapters() const;
  /// Multiply-adds that those take for each token.
  virtual double generator_beside() const { return 0; }
};

/// Leaves all as it is: documents whole, demonstrations token by token.
class NoCompressor final : public Compressor {
 public:
  Result<Plan> plan(const PromptParts& parts) const override;
  Result<std::vector<Compressed>> compress(std::span<const CompressionTask> tasks) const override;
};

/// One with tensors that are trained.
class TrainedCompressor : public Compressor {
 public:
  /// By their names in the file, float32.
  virtual training::NamedTensors tensors() const = 0;
  virtual void replace(const training::NamedTensors& tensors) = 0;
  /// What the text itself is written behind, or what `follows` it: as an answer is, unless a method
  /// says otherwise.
  virtual std::vector<Piece> assemble_text(const CompressionTask& task,
                                           std::span<const Piece> memory, bool follows) const;
  /// How a document is read in training; null: as for a development loss.
  virtual Result<Plan> drawn_plan(const PromptParts& parts, Rng* rng) const = 0;
  virtual void set_recompute(nn::Recompute recompute) = 0;
};

/// Of the memory `before` a segment what it sees.
std::vector<Piece> earlier_memory(const Segment& segment, std::span<const Piece> before);

/// How segments are read by a decoder: the last rows of what is read are their memory.
struct CompressorPass {
  const nn::Decoder& decoder;
  nn::Recompute recompute = nn::Recompute::nothing;
  int64_t segments_at_once = 1;
  /// `earlier`: the memory that a segment sees.
  std::function<nn::SequenceInput(const CompressionTask& task, const Segment& segment,
                                  std::span<const Piece> earlier)>
      input;
  /// Memory of states [rows, hidden], of all segments that are read at once.
  std::function<at::Tensor(const at::Tensor& states)> memory;
  double beside_token = 0;  ///< ReadPass::beside for each token
  double beside_row = 0;    ///< and for each row of memory
};

/// Compressor::compress: segments that do not wait for others side by side. Errors: as
/// nn::sequence_states.
Result<std::vector<Compressed>> compress_in_rounds(std::span<const CompressionTask> tasks,
                                                   const CompressorPass& pass);

/// What the generator reads of a task whose segments became `memory`, behind `earlier`.
std::vector<Piece> read_pieces(const Compressor& compressor, const CompressionTask& task,
                               std::span<const Piece> memory, std::span<const Piece> earlier = {});

}  // namespace qfs::compressors
