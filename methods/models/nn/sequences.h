// Whole sequences through a decoder at once (teacher forcing), as training and conformance need
// them: gradients reach every weight that requires them.
//
// Pure; thread-safe. LibTorch's exceptions come out as Errors.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "harness/api/result.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/recompute.h"

namespace qfs::nn {

/// What the head multiplies after every token that the inputs begin with (prompts, or the
/// decoder's tokens), one input after the other: [tokens, hidden]. Products see all tokens at once,
/// attention one input at a time. `invalid_argument`: no tokens, too many, an unknown id, and what
/// Decoder::encode refuses.
Result<at::Tensor> sequence_states(const Decoder& decoder, std::span<const SequenceInput> inputs,
                                   Recompute recompute = Recompute::nothing);

/// The residual stream that enters a layer, of every token of one input: [tokens, hidden], where
/// the decoder is. Errors likewise.
Result<at::Tensor> stream_before(const Decoder& decoder, const SequenceInput& input, size_t layer,
                                 Recompute recompute = Recompute::nothing);

/// The logits after every token of one input: [tokens, vocabulary]. Errors likewise.
Result<at::Tensor> sequence_logits(const Decoder& decoder, const SequenceInput& input);

}  // namespace qfs::nn
