// The fast CPU forward pass (llama.h) as a CausalModel, with a cache that is kept between calls.
//
// Called by models.h and tests. Threads and errors as in CausalModel.
#pragma once

#include <memory>

#include "methods/backbones/causal_model.h"
#include "methods/backbones/llama_weights.h"

namespace qfs::backbones {

std::unique_ptr<CausalModel> make_cpu_model(std::shared_ptr<const LlamaWeights> weights);

}  // namespace qfs::backbones
