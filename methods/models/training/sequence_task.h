// Training a language model, what is added to it or all of it, on labelled sequences: what the loop
// asks for, for any decoder, of what a text is made into.
//
// Made by methods that learn to write. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "methods/models/nn/adapters.h"
#include "methods/models/nn/model_work.h"
#include "methods/models/nn/recompute.h"
#include "methods/models/nn/source_reading.h"
#include "methods/models/training/trainer.h"

namespace qfs::training {

struct LabelledSequence {
  nn::SequenceInput input;  ///< without adapters
  /// Of every position that the decoder begins with: the token behind it, or nn::kNoLabel.
  std::vector<int64_t> labels;
};

/// A sequence in a graph of gradients or of a development loss.
struct GraphRow {
  const LabelledSequence& sequence;
  /// Names the stream of random numbers of this example in this step (dropout); none: nothing is
  /// drawn.
  std::optional<uint64_t> draw = {};
  int64_t step = 0;  ///< of the gradients, from 0; of a development loss 0
};

/// Of each row, or null.
using RowAdapters = std::vector<std::shared_ptr<const nn::Adapters>>;

/// What rows read instead of their sequences: some of as many labels, whose adapters are their own.
struct ReadRows {
  std::vector<LabelledSequence> sequences;
  std::vector<size_t> parts = {};  ///< of each row, how many of these; empty: one each
  /// Tokens of each pass through the decoder that was computed for them, which gradients reach.
  std::vector<int64_t> passes;
};

struct SequenceTraining {
  std::shared_ptr<const nn::Decoder> decoder;  ///< frozen, unless `trained` stands for it
  nn::ModelWork work;                          ///< what reading a sequence takes
  std::vector<LabelledSequence> train;
  std::vector<LabelledSequence> development;
  /// The rows' adapters with the values of now, for one graph.
  std::function<Result<RowAdapters>(std::span<const GraphRow> rows)> adapters;
  /// Likewise of a row's segments behind the first, so many (SequenceInput::later_adapters); empty,
  /// or what it gives is: they have those of the first.
  std::function<Result<RowAdapters>(const GraphRow& row, int64_t segments)> later_adapters = {};
  nn::Recompute recompute = nn::Recompute::nothing;
  double label_smoothing = 0;  ///< nn::HeadLoss::smoothing, of what is learned; not of development
  nn::DropoutRates dropout = {};  ///< likewise, drawn by `seed`; of encoder-decoders
  uint64_t seed = 0;
  /// The memory of all rows with the values of now, for one graph; empty: they have none.
  std::function<Result<std::shared_ptr<const nn::InfiniMemory>>()> memory = {};
  /// The loss of a row is the sum of the means of its segments (without a memory, its mean, over
  /// all that it reads), and counts as one label; else it is that of its labels.
  bool segment_means = false;
  /// With the values of now, for one graph; empty: rows read themselves.
  std::function<Result<ReadRows>(std::span<const GraphRow> rows)> read = {};
  /// The decoder over the weights of now, for one graph, whose gradients reach those that are
  /// trained; it lives until the next call. Empty: weights are frozen.
  std::function<std::shared_ptr<const nn::Decoder>()> trained = {};
  /// Matrices are among what of it is trained.
  bool matrices_trained = false;
  /// How the rows of an encoder-decoder read their sources, for one graph; empty: in full.
  std::function<nn::SourceReadings(std::span<const GraphRow> rows)> sources = {};
  /// Operations of reading a sequence up to the logits after its last token, where `work` does not
  /// say them.
  std::function<int64_t(const LabelledSequence& sequence)> reading_flops = {};
};

/// The task holds what it is made of.
TrainingTask sequence_task(SequenceTraining training);

}  // namespace qfs::training
