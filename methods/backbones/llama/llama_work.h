// The work of a LLaMA-type model.
//
// Called by its Network. Pure; thread-safe.
#pragma once

#include "methods/backbones/llama/llama_weights.h"
#include "methods/backbones/roofline/model_work.h"

namespace qfs::backbones {

ModelWork llama_work(const LlamaWeights& weights, const ElementBytes& bytes);

}  // namespace qfs::backbones
