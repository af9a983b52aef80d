#include "methods/models/kernels/cuda/element.cuh"
#include "methods/models/kernels/cuda/kernels.h"
#include "methods/models/kernels/cuda/launch.cuh"

namespace qfs::kernels::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 1 << 16;

template <class T>
__global__ void gated_activation_kernel(GatedActivation task) {
  const int64_t count = task.tokens * task.width;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const T* gate =
        static_cast<const T*>(task.gate_up) + i / task.width * 2 * task.width + i % task.width;
    const float x = read(gate[0]);
    write(static_cast<T*>(task.out) + i, x / (1.0f + expf(-x)) * read(gate[task.width]));
  }
}

}  // namespace

int gated_activation(const GatedActivation& task, void* stream) {
  const int64_t count = task.tokens * task.width;
  if (count == 0) return 0;
  const int64_t blocks = (count + kThreads - 1) / kThreads;
  return with_type(task.type, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const dim3 grid(static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks));
    launch({grid, kThreads}, stream, gated_activation_kernel<T>, task);
  });
}

}  // namespace qfs::kernels::cuda
