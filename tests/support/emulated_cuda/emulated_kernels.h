// The CUDA kernels of methods/models/kernels/cuda as a table that runs on the CPU, thread by
// thread.
//
// Used by kernel_device.h for QFS_TEST_DEVICE=emulated. Not thread-safe; throws std::logic_error
// for what block_threads.h finds.
#pragma once

#include "methods/models/kernels/device_kernels.h"

namespace qfs::test {

const kernels::DeviceKernels& emulated_cuda_kernels();

}  // namespace qfs::test
