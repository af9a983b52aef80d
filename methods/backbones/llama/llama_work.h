// The work of a LLaMA-type model.
//
// Called by its Network. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "methods/backbones/llama/llama_weights.h"
#include "methods/backbones/model_work.h"

namespace qfs::backbones {

/// `element_bytes`: of weights and caches where they are copied to another type; std::nullopt: the
/// weights as loaded, packed ones in their packed size, and float32 caches.
ModelWork llama_work(const LlamaWeights& weights, std::optional<int64_t> element_bytes);

}  // namespace qfs::backbones
