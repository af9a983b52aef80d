// The work of text encoders, alone or as the first half of an encoder-decoder.
//
// Called by the roofline and by encoder-decoders. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "methods/models/architectures/bert/encoder_weights.h"
#include "methods/models/nn/model_work.h"

namespace qfs::architectures {

/// All layers; `element_bytes` is that of a weight.
nn::LayerStack encoder_stack(const EncoderWeights& weights, int64_t element_bytes);

/// An encoder alone: texts are read, nothing is produced.
nn::ModelWork encoder_work(const EncoderWeights& weights);

/// Elements of linear layers with their biases, and of norms.
int64_t linear_elements(std::initializer_list<const nn::Linear*> layers);
int64_t norm_elements(std::initializer_list<const nn::LayerNorm*> norms);

}  // namespace qfs::architectures
