#include "tests/support/emulated_cuda/emulated_kernels.h"

#include "methods/models/kernels/cuda/kernels.h"
#include "tests/support/emulated_cuda/block_threads.h"

namespace qfs::kernels::cuda {
/// What launched_shared() declares: as much as a block may ask for on sm_90.
constexpr size_t kSharedBytes = size_t{227} << 10;
thread_local float shared[kSharedBytes / sizeof(float)];
}  // namespace qfs::kernels::cuda

namespace qfs::test {

emulated_cuda::SharedMemory emulated_cuda::shared_memory() {
  return {reinterpret_cast<std::byte*>(kernels::cuda::shared), kernels::cuda::kSharedBytes};
}

const kernels::DeviceKernels& emulated_cuda_kernels() {
  static constexpr kernels::DeviceKernels kKernels{
      "emulated", &kernels::cuda::rotate_store, &kernels::cuda::decode_attention,
      &kernels::cuda::gated_activation};
  return kKernels;
}

}  // namespace qfs::test
