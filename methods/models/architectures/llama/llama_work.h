// The work of a LLaMA-type model.
//
// Called by its Network. Pure; thread-safe.
#pragma once

#include "methods/models/architectures/llama/llama_weights.h"
#include "methods/models/nn/model_work.h"

namespace qfs::architectures {

nn::ModelWork llama_work(const LlamaWeights& weights, const nn::ElementBytes& bytes);

}  // namespace qfs::architectures
