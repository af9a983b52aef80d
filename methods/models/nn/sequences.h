// Whole sequences through a decoder at once (teacher forcing), as training and conformance need
// them: gradients reach every weight that requires them.
//
// Pure; thread-safe. LibTorch's exceptions come out as Errors.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/recompute.h"
#include "methods/models/nn/segment_attention.h"
#include "methods/models/nn/source_reading.h"

namespace qfs::nn {

/// How inputs with a memory are read.
struct SegmentReading {
  /// Of each input, or empty: 0. Segments that end before this position get no gradients: no loss
  /// there depends on them, since none crosses segments.
  std::vector<int64_t> gradients_from = {};
};

/// What the head multiplies after every token that the inputs begin with (prompts, or the
/// decoder's tokens), one input after the other: [tokens, hidden]. Products see all tokens at once
/// (of inputs with a memory, those of a segment), attention one input at a time. No gradient
/// crosses the segments of an input with a memory. `invalid_argument`: no tokens, too many, an
/// unknown id, a query that does not lie in the first segment of an input whose memory asks by
/// it, another number of later_adapters than of its segments, and what Decoder::encode refuses.
/// `sources`: how an encoder-decoder reads those of the inputs, one each, or empty: all in full;
/// its errors too.
Result<at::Tensor> sequence_states(const Decoder& decoder, std::span<const SequenceInput> inputs,
                                   Recompute recompute = Recompute::nothing,
                                   const SegmentReading& reading = {},
                                   const SourceReadings& sources = {});

/// The residual stream that enters a layer, of every token of one input: [tokens, hidden], where
/// the decoder is. Errors likewise.
Result<at::Tensor> stream_before(const Decoder& decoder, const SequenceInput& input, size_t layer,
                                 Recompute recompute = Recompute::nothing);

/// The logits after every token of one input: [tokens, vocabulary]. Errors likewise.
Result<at::Tensor> sequence_logits(const Decoder& decoder, const SequenceInput& input);

/// A prompt with a memory, segment after segment, as models read it that continue it.
struct ReadSegments {
  at::Tensor last;                   ///< what the head multiplies after the last token: [1, hidden]
  std::vector<SegmentState> layers;  ///< what the next token attends to
};
/// Errors as sequence_states.
Result<ReadSegments> read_segments(const Decoder& decoder, const SequenceInput& prompt);

}  // namespace qfs::nn
