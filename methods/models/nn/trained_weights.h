// A decoder's own weights as what training changes: their values by name, the decoder over other
// values, and what a checkpoint calls them.
//
// Used by methods that train a backbone in full. Pure; thread-safe. LibTorch's exceptions pass
// through. Names are those of checkpoints; layers that are computed as one are one tensor here.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "methods/models/nn/decoder.h"

namespace qfs::nn {

using WeightsByName = std::map<std::string, at::Tensor>;

/// Every weight once, where it is: tied ones under the name of their table; buffers, which nothing
/// trains, are none.
WeightsByName weights_of(const Decoder& decoder);

/// The same decoder over these values, one a name of weights_of, at its device and in its type.
/// Gradients reach them.
std::shared_ptr<const Decoder> with_weights(const Decoder& decoder, const WeightsByName& values);

/// All tensors as transformers names and shapes them: layers by themselves, buffers too; tied ones
/// once.
WeightsByName checkpoint_of(const Decoder& decoder);

/// Those of weights that gradients reach; `show` visits them.
std::vector<at::Tensor> trained_among(const std::function<void(WeightVisitor&)>& show);

}  // namespace qfs::nn
