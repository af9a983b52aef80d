// The CPU twin of sample_nucleus (device_kernels.h), and the same with any number of threads in a
// block, which tests vary.
//
// Called through cpu_device_kernels(). Thread-safe; codes as DeviceKernels.
#pragma once

#include "methods/models/kernels/device_kernels.h"

namespace qfs::kernels {

int sample_nucleus_on_cpu(const SampleNucleus& task, void* stream);

/// `threads`: 1 to kNucleusBuckets; changes nothing.
int sample_nucleus_by_threads(const SampleNucleus& task, int threads);

}  // namespace qfs::kernels
