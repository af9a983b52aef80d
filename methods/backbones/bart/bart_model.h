// BartModel: an encoder-decoder of the BART family as a SequenceModel: each input is encoded alone,
// its cross-attention keys and values are computed once and shared by all rows that go on from it.
//
// Called by generation. On a CPU in float32 the results of a row are the same bits in any batch.
// LibTorch's exceptions come out as Errors. Sources: Lewis et al. 2020; transformers 5.23,
// modeling_bart.py and modeling_led.py.
#pragma once

#include <memory>

#include "methods/backbones/bart/bart_weights.h"
#include "methods/backbones/sequence_model.h"

namespace qfs::backbones {

SequenceShape shape_of(const BartWeights& weights);

/// The encoder's states of an input: [1, tokens, hidden]. `invalid_argument`: no tokens, too many,
/// an unknown id, global positions that are no increasing positions of it or that the encoder does
/// not know. `windows`: flash only where flash_windows.h allows it.
Result<at::Tensor> encode_source(const BartWeights& weights, const SequenceInput& input,
                                 WindowKernel windows = WindowKernel::masks);

std::unique_ptr<SequenceModel> make_bart_model(std::shared_ptr<const BartWeights> weights,
                                               WindowKernel windows = WindowKernel::masks);

}  // namespace qfs::backbones
