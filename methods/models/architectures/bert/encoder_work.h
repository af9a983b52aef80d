// The work of text encoders, alone or as the first half of an encoder-decoder.
//
// Called by the roofline and by encoder-decoders. Pure; thread-safe.
#pragma once

#include <cstdint>

#include "methods/models/architectures/bert/encoder_weights.h"
#include "methods/models/nn/model_work.h"

namespace qfs::architectures {

/// All layers; `element_bytes` is that of a weight.
nn::LayerStack encoder_stack(const EncoderWeights& weights, int64_t element_bytes);

/// An encoder alone: texts are read, nothing is produced.
nn::ModelWork encoder_work(const EncoderWeights& weights);

}  // namespace qfs::architectures
