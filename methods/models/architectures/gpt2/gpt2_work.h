// The work of a GPT-2.
//
// Called by its Network. Pure; thread-safe.
#pragma once

#include "methods/models/architectures/gpt2/gpt2_weights.h"
#include "methods/models/nn/model_work.h"

namespace qfs::architectures {

nn::ModelWork gpt2_work(const Gpt2Weights& weights, const nn::ElementBytes& bytes);

}  // namespace qfs::architectures
