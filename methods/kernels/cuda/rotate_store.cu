#include "methods/kernels/cuda/element.cuh"
#include "methods/kernels/cuda/kernels.h"

namespace qfs::kernels::cuda {

namespace {

constexpr int kThreads = 256;

/// One block a token; a thread takes pairs of queries and keys, then values.
template <class T>
__global__ void rotate_store_kernel(RotateStore task) {
  const int64_t token = blockIdx.x;
  const int64_t half = task.dim / 2;
  const int64_t position = task.positions[token];
  const T* qkv =
      static_cast<const T*>(task.qkv) + token * (task.heads + 2 * task.kv_heads) * task.dim;
  const float* cosines = task.cosines + position * half;
  const float* sines = task.sines + position * half;
  T* queries = static_cast<T*>(task.queries) + token * task.heads * task.dim;
  // Place of (row, head 0, position); a head further is capacity * dim further.
  const int64_t head_size = task.capacity * task.dim;
  const int64_t place = task.rows[token] * task.kv_heads * head_size + position * task.dim;
  T* keys = static_cast<T*>(task.keys) + place;
  T* values = static_cast<T*>(task.values) + place;

  for (int64_t i = threadIdx.x; i < (task.heads + task.kv_heads) * half; i += blockDim.x) {
    const int64_t head = i / half;
    const int64_t pair = i % half;
    const T* in = qkv + head * task.dim + pair;
    const float a = read(in[0]);
    const float b = read(in[half]);
    T* out = head < task.heads ? queries + head * task.dim + pair
                               : keys + (head - task.heads) * head_size + pair;
    write(out, a * cosines[pair] - b * sines[pair]);
    write(out + half, b * cosines[pair] + a * sines[pair]);
  }
  const T* in = qkv + (task.heads + task.kv_heads) * task.dim;
  for (int64_t i = threadIdx.x; i < task.kv_heads * task.dim; i += blockDim.x) {
    values[i / task.dim * head_size + i % task.dim] = in[i];
  }
}

}  // namespace

int rotate_store(const RotateStore& task, void* stream) {
  if (task.tokens == 0) return 0;
  return with_type(task.type, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    rotate_store_kernel<T>
        <<<static_cast<unsigned>(task.tokens), kThreads, 0, stream_of(stream)>>>(task);
  });
}

}  // namespace qfs::kernels::cuda
