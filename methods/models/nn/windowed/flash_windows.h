// Where LED's windows can be computed by LibTorch's flash attention (window_pass.h): bands, on a
// GPU of compute capability 8.0 or higher, in 16 bits, with heads that its kernels take.
//
// Called by BartNetwork, which refuses what was asked for and cannot be instead of computing it
// otherwise. Thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "harness/api/method.h"
#include "harness/api/result.h"
#include "methods/models/nn/windows.h"

namespace qfs::backbones {

/// `windows`: of the encoder's layers. `invalid_argument`: there are none, one is no band, or
/// `head_dim` is no multiple of 8 up to 256.
Status check_flash_encoder(std::span<const Window> windows, int64_t head_dim);

/// `unavailable`: a CPU, float32, an older GPU, or one that cannot be asked.
Status check_flash_device(const RuntimeOptions& runtime);

/// `unavailable` below 8.0.
Status check_flash_capability(int major, int minor);

}  // namespace qfs::backbones
