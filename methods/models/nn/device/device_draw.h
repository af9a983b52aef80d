// Tokens drawn from logits on their device: ids cross to the host instead of the vocabulary.
//
// Used by models on a device. Waits for the ids; throws what LibTorch and the device throw.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "methods/models/nn/device/device_services.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::backbones {

/// logits [rows, vocabulary], of at most kernels::kMaxVocabulary; the rest as
/// SequenceModel::decode_draw.
void draw(const DeviceServices& services, const at::Tensor& logits, const DrawRule& rule,
          std::span<const double> uniforms, std::span<int32_t> ids);

}  // namespace qfs::backbones
