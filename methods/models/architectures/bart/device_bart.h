// The decoder of the BART family on any LibTorch device: the layers of bart_decoder.h with the
// device's own kernels for attention, over caches that stay where they are.
//
// Called by generation through SequenceModel. On a CPU it is the slow twin of bart_model.h that its
// tests compare with; on a GPU it is the forward pass. An input is encoded alone; the decoder takes
// every token, the first ones too, by steps of device_model.h.
#pragma once

#include <memory>

#include "methods/models/architectures/bart/bart_weights.h"
#include "methods/models/nn/device/device_services.h"
#include "methods/models/nn/sequence_model.h"

namespace qfs::architectures {

std::unique_ptr<nn::SequenceModel> make_device_model(
    std::shared_ptr<const BartWeights> weights, const nn::DeviceServices& services);

}  // namespace qfs::architectures
