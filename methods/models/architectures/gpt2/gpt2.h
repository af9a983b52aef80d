// GPT-2.
//
// Loaded by architectures.cpp and by tests. Immutable; thread-safe. Sources: Radford et al. 2019;
// transformers 5.23, configuration_gpt2.py and modeling_gpt2.py.
#pragma once

#include <memory>

#include "harness/api/result.h"
#include "methods/models/checkpoints/model_directory.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/model_outline.h"
#include "methods/models/nn/network.h"

namespace qfs::architectures {

/// Reads a folder, float32 on the CPU; names with and without the prefix "transformer.". Errors:
/// those of open_weights; `unavailable`: cross-attention, another scale of scores than
/// 1 / sqrt(head_dim), reordered attention, an activation or storage type that is not computed;
/// `data`: a key is missing or impossible, tensors that are missing, misshaped or unknown, a head
/// that differs from the embedding to which it is tied; `out_of_memory`.
Result<std::shared_ptr<const nn::Decoder>> load_gpt2_decoder(
    const checkpoints::ModelDirectory& directory);

Result<nn::ModelOutline> outline_gpt2_folder(const checkpoints::ModelDirectory& directory);
Result<std::shared_ptr<const nn::Network>> load_gpt2_folder(
    const checkpoints::ModelDirectory& directory);

}  // namespace qfs::architectures
