// Encoder-decoders of the BART family (bart_config.h): the order of their layers, and how they are
// loaded.
//
// Loaded by architectures.cpp and by tests. Immutable; thread-safe. Sources: Lewis et al. 2020;
// Beltagy et al. 2020; transformers 5.23, modeling_bart.py and modeling_led.py.
#pragma once

#include <memory>

#include "harness/api/result.h"
#include "methods/models/architectures/bart/bart_weights.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/model_outline.h"
#include "methods/models/nn/network.h"

namespace qfs::architectures {

std::shared_ptr<const nn::Decoder> make_bart_decoder(std::shared_ptr<const BartWeights> weights);

Result<nn::ModelOutline> outline_bart_folder(const checkpoints::ModelDirectory& directory);
Result<std::shared_ptr<const nn::Network>> load_bart_folder(
    const checkpoints::ModelDirectory& directory);

}  // namespace qfs::architectures
