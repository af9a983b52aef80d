// The fast CPU forward pass (llama.h) as a SequenceModel, with a cache that is kept between calls.
//
// Called by llama_network.h and tests. Threads and errors as in SequenceModel.
#pragma once

#include <memory>

#include "methods/backbones/llama/llama_weights.h"
#include "methods/backbones/sequence_model.h"

namespace qfs::backbones {

std::unique_ptr<SequenceModel> make_cpu_model(std::shared_ptr<const LlamaWeights> weights);

}  // namespace qfs::backbones
