#include "methods/models/kernels/cuda/element.cuh"
#include "methods/models/kernels/cuda/kernels.h"
#include "methods/models/kernels/cuda/launch.cuh"

namespace qfs::kernels::cuda {

namespace {

constexpr int kThreads = 256;

/// One block a token; a thread takes pairs of the heads that are rotated, then elements of those
/// that are copied.
template <class T>
__global__ void rotate_store_kernel(RotateStore task) {
  const int64_t token = blockIdx.x;
  const int64_t position = task.positions[token];
  const int64_t heads = task.heads + 2 * task.kv_heads;
  const T* qkv = static_cast<const T*>(task.qkv) + token * heads * task.dim;
  T* queries = static_cast<T*>(task.queries) + token * task.heads * task.dim;
  // Place of (row, head 0, position); a head further is capacity * dim further.
  const int64_t head_size = task.capacity * task.dim;
  const int64_t place = task.rows[token] * task.kv_heads * head_size + position * task.dim;
  T* keys = static_cast<T*>(task.keys) + place;
  T* values = static_cast<T*>(task.values) + place;
  const auto out_of = [&](int64_t head) {
    if (head < task.heads) return queries + head * task.dim;
    head -= task.heads;
    return head < task.kv_heads ? keys + head * head_size
                                : values + (head - task.kv_heads) * head_size;
  };

  const int64_t rotated = task.cosines == nullptr ? 0 : task.heads + task.kv_heads;
  const int64_t half = task.dim / 2;
  for (int64_t i = threadIdx.x; i < rotated * half; i += blockDim.x) {
    const int64_t head = i / half;
    const int64_t pair = i % half;
    const T* in = qkv + head * task.dim + pair;
    const float a = read(in[0]);
    const float b = read(in[half]);
    T* out = out_of(head) + pair;
    const float cosine = task.cosines[position * half + pair];
    const float sine = task.sines[position * half + pair];
    write(out, a * cosine - b * sine);
    write(out + half, b * cosine + a * sine);
  }
  for (int64_t i = rotated * task.dim + threadIdx.x; i < heads * task.dim; i += blockDim.x) {
    out_of(i / task.dim)[i % task.dim] = qkv[i];
  }
}

}  // namespace

int rotate_store(const RotateStore& task, void* stream) {
  if (task.tokens == 0) return 0;
  return with_type(task.type, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    launch({dim3(static_cast<unsigned>(task.tokens)), kThreads}, stream, rotate_store_kernel<T>,
           task);
  });
}

}  // namespace qfs::kernels::cuda
