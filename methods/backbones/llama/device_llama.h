// The forward pass of a LLaMA-type model on any LibTorch device: LibTorch's matrix products and
// prompt attention, the device's own kernels (methods/kernels/device_kernels.h) for the rest.
//
// Called by generation through SequenceModel. On a CPU it is the slow twin of llama.h that its
// tests compare with; on a GPU it is the forward pass. A prompt is read alone and decode attention
// sums in an order of its own row; the matrix products of a step are LibTorch's, whose sums may
// depend on the number of rows, so outputs may depend on the batch (numerics_id records it). Steps
// of decoding are recorded and replayed where the device can (step_graphs.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "methods/backbones/llama/device_llama_weights.h"
#include "methods/backbones/sequence_model.h"
#include "methods/kernels/device_plugin.h"

namespace qfs::backbones {

/// Where kernels of the weights' device come from and how its errors read.
struct DeviceServices {
  const kernels::DeviceKernels* kernels = nullptr;
  void* (*current_stream)(int device) = nullptr;
  const char* (*error_text)(int code) = nullptr;
  const kernels::DeviceGraphs* graphs = nullptr;  ///< null: steps are not recorded
};

/// Those of a plug-in; `graphs`: whether steps of decoding are recorded.
DeviceServices plugin_services(const kernels::DevicePlugin& plugin, bool graphs);
/// Those of the CPU twins.
DeviceServices cpu_device_services();

std::unique_ptr<SequenceModel> make_device_model(std::shared_ptr<const DeviceLlamaWeights> weights,
                                                 const DeviceServices& services);

}  // namespace qfs::backbones
