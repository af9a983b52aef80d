// A BART as a LED: the conversion with which the published LED checkpoints began.
//
// Called by BartNetwork. LibTorch's exceptions pass through (callers guard). Sources: Beltagy et
// al. 2020, section 7; AllenAI's conversion script: BART's position table is repeated until it is
// long enough, and the projections of global attention are copies of the others. No training
// follows.
#pragma once

#include <cstdint>
#include <memory>

#include "methods/models/architectures/bart/bart_weights.h"

namespace qfs::architectures {

/// `window`: positions on both sides together, even; `positions`: of the encoder. All but the
/// position table shares the memory of `bart`, whose type must be bart without windows.
std::shared_ptr<const BartWeights> led_from_bart(const BartWeights& bart, int64_t window,
                                                 int64_t positions);

}  // namespace qfs::architectures
