// A GPU as LibTorch's device: what is asked for, the switches that decide how it computes, what is
// in force, and its memory peaks. The one place that sets any of them.
//
// Called by torch_runtime.h and the hosts. Process-wide state, as LibTorch's own; one session at a
// time. Every function but `take_device_use` loads the plug-in when it is not loaded.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "harness/api/method.h"
#include "harness/api/result.h"
#include "methods/models/kernels/device_plugin.h"
#include "methods/models/nn/runtime/proven_kernels.h"

namespace qfs::nn {

/// float32, bfloat16 or float16; `invalid_argument` names them.
Result<c10::ScalarType> element_type_named(std::string_view dtype);

/// The inverse, for the three.
std::string_view name_of(c10::ScalarType type);

/// Deterministic algorithms, no TF32, and one attention backend that computes without mask
/// tensors: flash for 16-bit types, memory-efficient for float32. `unavailable`: no plug-in, no
/// driver, no device.
Status configure_cuda(const RuntimeOptions& runtime);

/// While it lives, attention with a mask tensor is computed in 16-bit types too: by the
/// memory-efficient backend, as in float32, since flash takes none. Without it LibTorch refuses.
class MaskedAttention {
 public:
  MaskedAttention();
  ~MaskedAttention();
  MaskedAttention(const MaskedAttention&) = delete;
  MaskedAttention& operator=(const MaskedAttention&) = delete;

 private:
  bool before_;
};

/// What the device is. `unavailable` as configure_cuda.
Result<kernels::DeviceFacts> device_facts();

/// The device's kernels, each as good as LibTorch (proven_kernels.h): found out at the first call,
/// with a warning for what is not. The device is configured.
Result<const ProvenKernels*> proven_device_kernels();

/// Whether steps of decoding are recorded as CUDA graphs: unless QFS_CUDA_GRAPHS is "off". Changes
/// no bits (step_graphs.h), so it is a detail and not part of the numerics.
bool decode_graphs_wanted();

/// Reads back what configure_cuda set, into `numerics` (capability, versions, switches) and
/// `details` (name, memory, driver).
Status add_cuda_facts(nlohmann::json& numerics, nlohmann::json& details);

/// Memory of the device, in bytes, and what it has used.
struct DeviceUse {
  kernels::AllocatorPeaks allocator;  ///< since the last call
  /// What the driver counts, on the whole device and by every process: now (LibTorch's allocator
  /// gives nothing back before a session ends), and before this process came to the device. Absent
  /// where NVML cannot be asked.
  std::optional<int64_t> used_bytes;
  std::optional<int64_t> used_before_bytes;
  std::optional<int64_t> energy_millijoules;  ///< since the driver was loaded; of newer GPUs
};

/// None when no device was configured. Throws what LibTorch throws, which the host answers with an
/// error: a peak that cannot be read is not 0.
std::optional<DeviceUse> take_device_use();

}  // namespace qfs::nn
