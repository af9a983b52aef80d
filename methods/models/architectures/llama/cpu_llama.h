// The fast CPU forward pass (llama.h) as a SequenceModel, with a cache that is kept between calls.
//
// Called by llama_network.h and tests. Threads and errors as in SequenceModel.
#pragma once

#include <memory>

#include "methods/models/architectures/llama/llama_weights.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::architectures {

/// `bfloat16_products`: prompts are read in bfloat16 (PrefillGemm).
std::unique_ptr<nn::SequenceModel> make_cpu_model(std::shared_ptr<const LlamaWeights> weights,
                                                  bool bfloat16_products = false);

}  // namespace qfs::architectures
