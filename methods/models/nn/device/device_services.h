// DeviceServices: where the kernels of a device come from, on which of its queues they run and how
// its errors read.
//
// Given to models on a device by their Network; tests give the CPU twins. Plain data; thread-safe
// as the device's runtime is.
#pragma once

#include "methods/models/kernels/device_plugin.h"

namespace qfs::nn {

struct DeviceServices {
  const kernels::DeviceKernels* kernels = nullptr;
  void* (*current_stream)(int device) = nullptr;
  const char* (*error_text)(int code) = nullptr;
  const kernels::DeviceGraphs* graphs = nullptr;  ///< null: steps are not recorded

  /// Throws with the device's words for the code of a call that failed.
  void must(int code) const;
};

/// Those of a plug-in with these kernels; `graphs`: whether steps of decoding are recorded.
DeviceServices plugin_services(const kernels::DevicePlugin& plugin,
                               const kernels::DeviceKernels& kernels, bool graphs);
/// Those of the CPU twins.
DeviceServices cpu_device_services();

}  // namespace qfs::nn
