// SourceReading: how the decoder of an encoder-decoder reads its source in whole sequences, where
// that is not full cross-attention to what the encoder reads at once: a source of any length, or
// some of its states alone.
//
// Implemented by methods (unlimiformer), called by sequences.h, under training with gradients; of
// steps the like is steps/retrieved_source.h. Immutable; thread-safe. LibTorch's exceptions pass
// through but where a Result is returned.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/nn/decoder.h"

namespace qfs::nn {

/// What a layer's cross-attention is made of, of one input.
struct SourceQuery {
  const Decoder& decoder;
  size_t layer = 0;
  at::Tensor states;                   ///< SourceReading::encode: [1, tokens, hidden]
  at::Tensor queries;                  ///< [rows, heads * head_dim], not scaled
  const Adapters* adapters = nullptr;  ///< those of the input, or null
  const Dropout* dropout = nullptr;    ///< likewise

  uint64_t place() const { return block_place(true, layer, LayerBlock::cross_attention); }
};

class SourceReading {
 public:
  virtual ~SourceReading() = default;
  /// What the layers attend to: [1, tokens, hidden]. Errors as Decoder::encode.
  virtual Result<at::Tensor> encode(const Decoder& decoder, const SequenceInput& input,
                                    Recompute recompute) const = 0;
  /// [rows, heads * head_dim]. The same bits each time: layers may be computed again.
  virtual at::Tensor attend(const SourceQuery& query) const = 0;
};

/// Of each input, or null: full cross-attention to what the encoder reads at once.
using SourceReadings = std::vector<std::shared_ptr<const SourceReading>>;

/// Full cross-attention to the states of a query.
at::Tensor attend_to_all(const SourceQuery& query);

}  // namespace qfs::nn
