// The work of encoder-decoders of the BART family.
//
// Called by their Network. Pure; thread-safe.
#pragma once

#include "methods/backbones/bart/bart_weights.h"
#include "methods/backbones/roofline/model_work.h"

namespace qfs::backbones {

ModelWork bart_work(const BartWeights& weights, const ElementBytes& bytes);

}  // namespace qfs::backbones
