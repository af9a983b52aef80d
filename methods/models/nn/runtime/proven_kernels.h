// Kernels of a device that have proved themselves: each is compared with LibTorch's computation of
// the same formula on the device that it is to run on; one that differs is left out, and LibTorch
// computes in its place. So that code that nobody could run on a kind of GPU is safe there.
//
// Called when a device is first used: by the probe, whose numerics say which kernels are in force,
// and by models. Thread-compatible. LibTorch's exceptions pass through.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "methods/models/kernels/device_kernels.h"

namespace qfs::nn {

/// The same kernels by LibTorch's operations, on the CPU or on device 0 of another kind.
const kernels::DeviceKernels& libtorch_kernels(at::DeviceType type);

struct ProvenKernels {
  kernels::DeviceKernels kernels;     ///< of a device, LibTorch's in place of what failed
  std::vector<std::string> replaced;  ///< by name, in the order of DeviceKernels
};

/// Compares `kernels` on tensors of a device, in all element types and shapes of several models.
/// `stream`: LibTorch's current one.
ProvenKernels prove(const kernels::DeviceKernels& kernels, at::Device device, void* stream);

}  // namespace qfs::nn
