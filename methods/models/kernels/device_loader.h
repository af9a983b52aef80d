// Finds and opens the device plug-in, once per process.
//
// Called by backbones when a session asks for a device. Thread-safe. The plug-in is looked for
// beside the executable and in ../lib/qfs-bench; LibTorch's CUDA half beside its CPU half.
#pragma once

#include "harness/api/result.h"
#include "methods/models/kernels/device_plugin.h"

namespace qfs::kernels {

/// `unavailable`, with the reason: this build has no plug-in, the machine no driver or no device,
/// LibTorch no CUDA libraries, or the plug-in is another version's.
Result<const DevicePlugin*> device_plugin();

/// An Error for a code of the plug-in; out_of_memory where it says so.
Error device_error(const DevicePlugin& plugin, int code, std::string_view doing);

}  // namespace qfs::kernels
