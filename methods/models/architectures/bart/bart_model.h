// BartModel: an encoder-decoder of the BART family as a SequenceModel on a CPU: each input is
// encoded alone, its cross-attention keys and values are computed once and shared by all rows that
// go on from it.
//
// Called by generation. In float32 the results of a row are the same bits in any batch. LibTorch's
// exceptions come out as Errors.
#pragma once

#include <memory>

#include "methods/models/architectures/bart/bart_weights.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::architectures {

std::unique_ptr<nn::SequenceModel> make_bart_model(std::shared_ptr<const BartWeights> weights);

}  // namespace qfs::architectures
