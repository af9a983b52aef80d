// One block a row runs the algorithm of nucleus_select.h. Sums are integers, so atomic additions in
// any order give one result.
#include "methods/models/kernels/cuda/element.cuh"
#include "methods/models/kernels/cuda/kernels.h"
#include "methods/models/kernels/cuda/launch.cuh"
#include "methods/models/kernels/nucleus_select.h"

namespace qfs::kernels::cuda {

namespace {

constexpr int kThreads = 512;

class ThreadBlock {
 public:
  __device__ int threads() const { return kThreads; }
  template <class Body>
  __device__ void each(const Body& body) const {
    body(static_cast<int>(threadIdx.x), kThreads);
    __syncthreads();
  }
  template <class Body>
  __device__ void one(const Body& body) const {
    if (threadIdx.x == 0) {
      if constexpr (std::is_invocable_v<Body>) {
        body();
      } else {
        body(kThreads);
      }
    }
    __syncthreads();
  }
  __device__ static void add(uint64_t& sum, uint64_t value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(value));
  }
  template <class T>
  __device__ static double read(T logit) {
    return cuda::read(logit);
  }
  __device__ static uint64_t key_of(double value) {
    return static_cast<uint64_t>(__double_as_longlong(value));
  }
  __device__ static double value_of(uint64_t key) {
    return __longlong_as_double(static_cast<long long>(key));
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) sample_nucleus_kernel(SampleNucleus task) {
  __shared__ NucleusState state;
  ThreadBlock block;
  const int64_t row = blockIdx.x;
  const int32_t id = draw_from_nucleus(block, state, nucleus_row(task, row),
                                       static_cast<const T*>(task.logits) + row * task.vocabulary);
  if (threadIdx.x == 0) task.ids[row] = id;
}

}  // namespace

int sample_nucleus(const SampleNucleus& task, void* stream) {
  if (!can_sample(task)) return static_cast<int>(cudaErrorInvalidValue);
  if (task.rows == 0) return 0;
  return with_type(task.type, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    launch({dim3(static_cast<unsigned>(task.rows)), kThreads}, stream, sample_nucleus_kernel<T>,
           task);
  });
}

}  // namespace qfs::kernels::cuda
