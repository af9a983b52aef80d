// A model's own weights as what training changes: their values by name, the model over other
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
#include <string_view>
#include <vector>

#include "methods/models/nn/decoder.h"

namespace qfs::nn {

using WeightsByName = std::map<std::string, at::Tensor>;

/// Visits the weights of a model, which the visitor may replace.
using ShowWeights = std::function<void(WeightVisitor&)>;

/// Every weight once, where it is: tied ones under the name of their table; buffers, which nothing
/// trains, are none.
WeightsByName weights_of(const ShowWeights& show);
WeightsByName weights_of(const Decoder& decoder);

/// Puts these values in their place, one a name of weights_of, each on the device and in the type
/// of what was there. Gradients reach them.
void assign_weights(const ShowWeights& show, const WeightsByName& values);

/// The same decoder over these values, likewise.
std::shared_ptr<const Decoder> with_weights(const Decoder& decoder, const WeightsByName& values);

/// All tensors as transformers names and shapes them: layers by themselves, buffers too; tied ones
/// once. `prefix`: what stands before the names that `show` gives.
WeightsByName checkpoint_of(const ShowWeights& show, std::string_view prefix);
WeightsByName checkpoint_of(const Decoder& decoder);

/// Those of weights that gradients reach; `show` visits them.
std::vector<at::Tensor> trained_among(const ShowWeights& show);

}  // namespace qfs::nn
