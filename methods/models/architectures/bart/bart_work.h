// The work of encoder-decoders of the BART family.
//
// Called by their Network. Pure; thread-safe.
#pragma once

#include "methods/models/architectures/bart/bart_weights.h"
#include "methods/models/nn/model_work.h"

namespace qfs::architectures {

nn::ModelWork bart_work(const BartWeights& weights, const nn::ElementBytes& bytes);

}  // namespace qfs::architectures
