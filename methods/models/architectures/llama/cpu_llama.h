// The fast CPU forward pass (llama.h) as a SequenceModel, with a cache that is kept between calls.
//
// Called by llama_network.h and tests. Threads and errors as in SequenceModel.
#pragma once

#include <memory>

#include "methods/models/architectures/llama/llama_weights.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::backbones {

/// `bfloat16_products`: prompts are read in bfloat16 (PromptProducts).
std::unique_ptr<SequenceModel> make_cpu_model(std::shared_ptr<const LlamaWeights> weights,
                                              bool bfloat16_products = false);

}  // namespace qfs::backbones
