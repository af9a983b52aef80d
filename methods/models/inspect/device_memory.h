// How fast a LibTorch device reads and copies its memory.
//
// Called by the measurement of a machine's limits. Allocates the buffer and frees it; LibTorch's
// exceptions pass through.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "methods/models/kernels/memory_rates.h"

namespace qfs::inspect {

/// Returns when what was started on the tensor's device is done.
void wait_for(const at::Tensor& tensor);

/// Passes over `bytes` of memory, for about `seconds` in all and at least three of each kind. A sum
/// need not read as fast as the memory gives: where a copy moves more, that is the rate of reading.
kernels::MemoryRates measure_memory(c10::Device device, int64_t bytes, double seconds);

}  // namespace qfs::inspect
