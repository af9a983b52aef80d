// Decode attention in two launches: attend_part reads one part of one key head's keys and values
// for all queries of its group, merge_parts joins the parts. A batch of one with a long cache then
// fills the device (Flash-Decoding). The split is by kDecodePart positions whatever the batch, so
// a row's sums have one order.
#include <cfloat>

#include "methods/models/kernels/cuda/element.cuh"
#include "methods/models/kernels/cuda/kernels.h"
#include "methods/models/kernels/cuda/launch.cuh"

namespace qfs::kernels::cuda {

namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kMergeThreads = 128;
constexpr int kGroupChunk = 8;  ///< queries whose sums a thread keeps in registers
constexpr int kLaneElements = kMaxHeadDim / kWarp;

__device__ float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

__device__ float warp_max(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  return value;
}

/// Sections of the workspace: sums of values, maxima, sums of weights; each by (token, head, part).
struct Workspace {
  float* values;
  float* maxima;
  float* sums;
};

__device__ Workspace workspace_of(const DecodeAttention& task) {
  const int64_t count = task.tokens * task.heads * task.parts;
  return {task.workspace, task.workspace + count * task.dim,
          task.workspace + count * (task.dim + 1)};
}

/// scores[h, p] = query_h . key_p; a warp takes whole positions and reads each key once.
template <class T>
__device__ void score_keys(const DecodeAttention& task, const T* keys, int count, int group,
                           const float* queries, float* scores) {
  const int dim = static_cast<int>(task.dim);
  const int lane = threadIdx.x % kWarp;
  for (int p = threadIdx.x / kWarp; p < count; p += kWarps) {
    float key[kLaneElements];
#pragma unroll
    for (int i = 0; i < kLaneElements; ++i) {
      const int d = lane + i * kWarp;
      key[i] = d < dim ? read(keys[static_cast<int64_t>(p) * dim + d]) : 0.0f;
    }
    for (int h = 0; h < group; ++h) {
      float dot = 0;
#pragma unroll
      for (int i = 0; i < kLaneElements; ++i) {
        const int d = lane + i * kWarp;
        if (d < dim) dot += queries[h * dim + d] * key[i];
      }
      dot = warp_sum(dot);
      if (lane == 0) scores[h * kDecodePart + p] = dot;
    }
  }
}

/// Scores become e^(score - maximum); `first` is the place of (token, first head of the group).
__device__ void weigh(const DecodeAttention& task, const Workspace& workspace, int64_t first,
                      int count, int group, float* scores) {
  const int lane = threadIdx.x % kWarp;
  for (int h = threadIdx.x / kWarp; h < group; h += kWarps) {
    float* row = scores + h * kDecodePart;
    float largest = -FLT_MAX;
    for (int p = lane; p < count; p += kWarp) largest = fmaxf(largest, row[p]);
    largest = warp_max(largest);
    float sum = 0;
    for (int p = lane; p < count; p += kWarp) {
      row[p] = expf(row[p] - largest);
      sum += row[p];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
      const int64_t place = (first + h) * task.parts + blockIdx.x;
      workspace.maxima[place] = largest;
      workspace.sums[place] = sum;
    }
  }
}

/// Weighted sums of values. Threads are slices of positions times the dimension; slices are added
/// in order through `slices` [slice, kGroupChunk, dim].
template <class T>
__device__ void sum_values(const DecodeAttention& task, const Workspace& workspace, int64_t first,
                           const T* values, int count, int group, const float* weights,
                           float* slices) {
  const int dim = static_cast<int>(task.dim);
  const int slice_count = kThreads / dim;
  const int slice = threadIdx.x / dim;
  const int d = threadIdx.x % dim;
  for (int begin = 0; begin < group; begin += kGroupChunk) {
    const int heads = min(kGroupChunk, group - begin);
    if (slice < slice_count) {
      float sum[kGroupChunk] = {};
      for (int p = slice; p < count; p += slice_count) {
        const float value = read(values[static_cast<int64_t>(p) * dim + d]);
#pragma unroll
        for (int h = 0; h < kGroupChunk; ++h) {
          if (h < heads) sum[h] += weights[(begin + h) * kDecodePart + p] * value;
        }
      }
#pragma unroll
      for (int h = 0; h < kGroupChunk; ++h) {
        if (h < heads) slices[(slice * kGroupChunk + h) * dim + d] = sum[h];
      }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < heads * dim; i += kThreads) {
      const int h = i / dim;
      float total = 0;
      for (int s = 0; s < slice_count; ++s) total += slices[(s * kGroupChunk + h) * dim + i % dim];
      const int64_t place = (first + begin + h) * task.parts + blockIdx.x;
      workspace.values[place * dim + i % dim] = total;
    }
    __syncthreads();
  }
}

/// Block (part, key head, token).
template <class T>
__global__ void __launch_bounds__(kThreads) attend_part(DecodeAttention task) {
  const int64_t token = blockIdx.z;
  const int64_t length = task.positions[token] + 1;
  const int64_t begin = blockIdx.x * kDecodePart;
  if (begin >= length) return;
  const int count = static_cast<int>(min(kDecodePart, length - begin));
  const int group = static_cast<int>(task.heads / task.kv_heads);
  const int dim = static_cast<int>(task.dim);
  float* queries = launched_shared();            // [group, dim], scaled
  float* scores = queries + group * dim;         // [group, kDecodePart]
  float* slices = scores + group * kDecodePart;  // [kThreads / dim, kGroupChunk, dim]

  const int64_t first = token * task.heads + blockIdx.y * group;
  const T* query = static_cast<const T*>(task.queries) + first * dim;
  for (int i = threadIdx.x; i < group * dim; i += kThreads) {
    queries[i] = read(query[i]) * task.scale;
  }
  __syncthreads();
  const int64_t offset =
      ((task.rows[token] * task.kv_heads + blockIdx.y) * task.capacity + begin) * dim;
  score_keys(task, static_cast<const T*>(task.keys) + offset, count, group, queries, scores);
  __syncthreads();
  const Workspace workspace = workspace_of(task);
  weigh(task, workspace, first, count, group, scores);
  __syncthreads();
  sum_values(task, workspace, first, static_cast<const T*>(task.values) + offset, count, group,
             scores, slices);
}

/// Block (head, token): sum_p e^(m_p - m) v_p / sum_p e^(m_p - m) s_p.
template <class T>
__global__ void merge_parts(DecodeAttention task) {
  const int64_t token = blockIdx.y;
  const int64_t parts = (task.positions[token] + kDecodePart) / kDecodePart;
  const int64_t head = token * task.heads + blockIdx.x;
  const Workspace workspace = workspace_of(task);
  const float* maxima = workspace.maxima + head * task.parts;
  const float* sums = workspace.sums + head * task.parts;
  const float* values = workspace.values + head * task.parts * task.dim;
  float largest = -FLT_MAX;
  for (int64_t p = 0; p < parts; ++p) largest = fmaxf(largest, maxima[p]);
  for (int64_t d = threadIdx.x; d < task.dim; d += blockDim.x) {
    float total = 0;
    float sum = 0;
    for (int64_t p = 0; p < parts; ++p) {
      const float factor = expf(maxima[p] - largest);
      total += factor * sums[p];
      sum += factor * values[p * task.dim + d];
    }
    write(static_cast<T*>(task.out) + head * task.dim + d, sum / total);
  }
}

}  // namespace

int decode_attention(const DecodeAttention& task, void* stream) {
  if (task.tokens == 0) return 0;
  if (task.dim < 1 || task.dim > kMaxHeadDim) return static_cast<int>(cudaErrorInvalidValue);
  const int64_t group = task.heads / task.kv_heads;
  const auto shared = static_cast<size_t>(group * (task.dim + kDecodePart) +
                                          kThreads / task.dim * kGroupChunk * task.dim) *
                      sizeof(float);
  const dim3 blocks(static_cast<unsigned>(task.parts), static_cast<unsigned>(task.kv_heads),
                    static_cast<unsigned>(task.tokens));
  const dim3 heads(static_cast<unsigned>(task.heads), static_cast<unsigned>(task.tokens));
  int prepared = 0;
  const int launched = with_type(task.type, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    // Groups of more than about 30 queries need more than the default 48 KiB.
    prepared = static_cast<int>(cudaFuncSetAttribute(
        attend_part<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    if (prepared != 0) return;
    launch({blocks, kThreads, shared}, stream, attend_part<T>, task);
    launch({heads, kMergeThreads}, stream, merge_parts<T>, task);
  });
  return prepared != 0 ? prepared : launched;
}

}  // namespace qfs::kernels::cuda
