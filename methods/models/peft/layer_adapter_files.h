// LayerAdapters in safetensors files, under the names of IDEAL's release: written here, or a
// release of its authors as converted from adapter.pth.
//
// Read and written by methods with such adapters. What a file holds says what it is: kind, sizes,
// layers and the form of the hypernetwork are those of its tensors. A file without metadata is in
// the release's rotary layout (adjacent pairs), ours in Hugging Face's. Functions are thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

#include "harness/api/result.h"
#include "methods/models/peft/layer_adapter.h"

namespace qfs::peft {

/// `widths`: of the backbone that it is for. What tensors do not say (gate_tanh, pooling of one
/// kind, precision, detach) is as in `rest`. `data`: no such file, a tensor that is missing, that
/// does not belong there, or of another shape than the backbone's, by its name.
Result<LayerAdapter> read_layer_adapter(const std::string& path, const nn::LayerWidths& widths,
                                        const LayerAdapterConfig& rest);

/// The bytes of a file; tensors are rounded to `type` (float32 or bfloat16). Equal adapters give
/// equal bytes.
std::string layer_adapter_bytes(const LayerAdapter& adapter,
                                const std::map<std::string, std::string>& metadata,
                                at::ScalarType type);

}  // namespace qfs::peft
