// A whole target sequence through a model of the BART family at once (teacher forcing), as training
// and conformance need it: gradients reach every weight that requires them.
//
// Pure; thread-safe. LibTorch's exceptions come out as Errors. bart_model.h generates.
#pragma once

#include <ATen/core/Tensor.h>

#include "harness/api/result.h"
#include "methods/models/architectures/bart/bart_weights.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::architectures {

/// Logits after each of `input.decoder_ids` (or the decoder's start): [ids, vocabulary].
/// `invalid_argument` as encode_source, and for decoder ids that are unknown or too many.
Result<at::Tensor> bart_logits(const BartWeights& weights, const nn::SequenceInput& input);

}  // namespace qfs::architectures
