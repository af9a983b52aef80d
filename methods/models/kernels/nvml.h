// What the NVIDIA driver counts, through its management library (NVML), which is opened at run
// time: nothing of it is needed to build or to run without a GPU.
//
// Called by backbones when a session uses a GPU. An absent library, symbol or device is an Error
// and never a 0. Thread-safe, as NVML is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "harness/api/result.h"

namespace qfs::kernels {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// One GPU as NVML knows it.
class NvmlDevice {
 public:
  /// Opens `library` and finds the GPU at `pci_bus_id` ("00000000:1B:00.0", as the CUDA runtime
  /// writes it). `unavailable`, with the reason: no such library, a function that it lacks, or
  /// NVML's own words.
  static Result<std::unique_ptr<NvmlDevice>> open(const std::string& pci_bus_id,
                                                  const std::string& library = kNvmlLibrary);
  ~NvmlDevice();
  NvmlDevice(const NvmlDevice&) = delete;
  NvmlDevice& operator=(const NvmlDevice&) = delete;

  /// Bytes in use on the whole device now, by every process and the driver itself. `unavailable`.
  Result<int64_t> used_bytes() const;
  /// Used by the whole device since the driver was loaded; counted since Volta. `unavailable`.
  Result<int64_t> energy_millijoules() const;

 private:
  struct Library;
  explicit NvmlDevice(std::unique_ptr<Library> library);

  std::unique_ptr<Library> library_;
  void* device_ = nullptr;
};

}  // namespace qfs::kernels
