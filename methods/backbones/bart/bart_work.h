// The work of encoder-decoders of the BART family.
//
// Called by their Network. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "methods/backbones/bart/bart_weights.h"
#include "methods/backbones/model_work.h"

namespace qfs::backbones {

/// `element_bytes`: of weights and caches; std::nullopt: float32.
ModelWork bart_work(const BartWeights& weights, std::optional<int64_t> element_bytes);

}  // namespace qfs::backbones
