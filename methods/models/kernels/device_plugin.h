// The border between qfs-host and a device plug-in (libqfs_cuda.so): one exported function that
// returns a table. Everything that needs a vendor's headers lies behind it.
//
// Loaded by device_loader.h when a device is asked for. Functions that return int give 0 or an
// error code for error_text. Thread-safe as the vendor's runtime is.
#pragma once

#include <cstdint>
#include <functional>

#include "methods/models/kernels/device_kernels.h"

namespace qfs::kernels {

/// Raised when this file or device_kernels.h changes; host and plug-in must agree.
inline constexpr int kDeviceInterface = 7;

struct DeviceFacts {
  char name[256];        ///< "NVIDIA H200"
  int capability_major;  ///< compute capability
  int capability_minor;
  int multiprocessors;
  int64_t memory_bytes;
  int driver_version;  ///< 13000 is CUDA 13.0
  int runtime_version;
  int64_t cudnn_version;  ///< 91900 is 9.19.0
  char pci_bus_id[32];    ///< "00000000:1B:00.0"
};

/// Bytes, as LibTorch's caching allocator counts them, since the last reset_peaks.
struct AllocatorPeaks {
  int64_t allocated_peak;  ///< held by tensors, rounded to blocks
  int64_t requested_peak;  ///< what they asked for
  int64_t reserved_peak;   ///< held by the allocator
};

/// Work that a device records and does again: CUDA graphs. All throw c10::Error, and `record` what
/// `work` throws.
struct DeviceGraphs {
  /// Does `work` once as it is, which prepares libraries for it, then records it without doing it.
  /// The memory of its intermediate results stays the record's.
  void* (*record)(int device, const std::function<void()>& work);
  void (*replay)(void* record);  ///< on the current stream
  void (*forget)(void* record);  ///< not while it runs
};

struct DevicePlugin {
  int interface;  ///< kDeviceInterface of its build
  const DeviceKernels* kernels;
  int (*count)(int* devices);
  int (*facts)(int device, DeviceFacts* facts);
  AllocatorPeaks (*peaks)(int device);  ///< throws c10::Error
  void (*reset_peaks)(int device);
  /// The most that the allocator takes, its peaks' `reserved_peak`; throws c10::Error.
  void (*limit_memory)(int device, int64_t bytes);
  void* (*current_stream)(int device);  ///< LibTorch's, to which its operators go
  const char* (*error_text)(int code);
  DeviceGraphs graphs;
};

}  // namespace qfs::kernels

/// The one symbol of a plug-in.
extern "C" __attribute__((visibility("default"))) const qfs::kernels::DevicePlugin*
qfs_device_plugin();
