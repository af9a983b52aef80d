// The forward pass of a LLaMA-type model on any LibTorch device: LibTorch's matrix products and
// prompt attention, the device's own kernels (methods/models/kernels/device_kernels.h) for the
// rest.
//
// Called by generation through SequenceModel. On a CPU it is the slow twin of llama.h that its
// tests compare with; on a GPU it is the forward pass. A prompt is read alone; steps of decoding
// are those of device_model.h.
#pragma once

#include <memory>

#include "methods/models/architectures/llama/device_llama_weights.h"
#include "methods/models/nn/device/device_services.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::architectures {

std::unique_ptr<nn::SequenceModel> make_device_model(
    std::shared_ptr<const DeviceLlamaWeights> weights, const nn::DeviceServices& services);

}  // namespace qfs::architectures
