// What comes before the decoder in models of the BART family: the checks of an input and its
// encoder.
//
// Called by bart_model.h, device_bart.h and bart_forward.h. Pure; thread-safe. LibTorch's
// exceptions come out as Errors. Sources: Lewis et al. 2020; transformers 5.23, modeling_bart.py
// and modeling_led.py.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "harness/api/result.h"
#include "methods/models/architectures/bart/bart_weights.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::architectures {

nn::SequenceShape shape_of(const BartConfig& config);
/// The same with the head's own vocabulary.
nn::SequenceShape shape_of(const BartWeights& weights);

/// The encoder's states of an input: [1, tokens, hidden]. `invalid_argument`: no tokens, too many,
/// an unknown id, global positions that are no increasing positions of it or that the encoder does
/// not know.
Result<at::Tensor> encode_source(const BartWeights& weights, const nn::SequenceInput& input);

/// What SequenceModel::prefill refuses before it encodes; `lengths`: of the cache's rows,
/// `capacity` positions each.
Status check_prefill(int64_t row, const nn::SequenceInput& input, const nn::SequenceShape& shape,
                     std::span<const int64_t> lengths, int64_t capacity);

/// `invalid_argument` unless there are 1 to `most` known ids.
Status check_decoder_ids(std::span<const int32_t> ids, int64_t most, int64_t vocabulary);

}  // namespace qfs::architectures
