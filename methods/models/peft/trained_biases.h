// What `w_bias` of IDEAL's release trains beside adapters: biases of a LLaMA's linear layers but
// those of keys and values, and the weights of its norms.
//
// Used by methods that train adapters of whole layers, and by the reader of their files. Pure;
// thread-safe. LibTorch's exceptions pass through. Names are the release's, with "llama." in front.
#pragma once

#include <memory>
#include <string_view>

#include "methods/models/nn/decoder.h"
#include "methods/models/peft/layer_adapter.h"

namespace qfs::peft {

/// Whether a tensor of an adapter's file is one of these.
bool is_bias_tensor(std::string_view name);

/// Those of a backbone.
NamedShapes bias_shapes(const nn::LayerWidths& widths);

/// What training begins with, float32 on the CPU: the decoder's own, zeros where it has none.
NamedTensors first_biases(const nn::Decoder& decoder);

/// The same decoder over these values, all of bias_shapes; gradients reach them.
std::shared_ptr<const nn::Decoder> with_biases(const nn::Decoder& decoder,
                                               const NamedTensors& biases);

}  // namespace qfs::peft
