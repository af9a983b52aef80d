// A GPT-2 as a SequenceModel on a CPU in float32. A prompt is read alone, by LibTorch's products
// and attention; steps are those of steps/step_model.h, so a row has the same bits in any batch.
//
// Called by generation. LibTorch's exceptions come out as Errors.
#pragma once

#include <memory>

#include "methods/models/architectures/gpt2/gpt2_weights.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::architectures {

std::unique_ptr<nn::SequenceModel> make_gpt2_model(std::shared_ptr<const Gpt2Weights> weights);

}  // namespace qfs::architectures
