// Kernels that every device has, in one table each: the CPU twin (device_kernels_cpu.cpp) and CUDA
// (cuda/, in the plug-in). One parametrised test runs on whichever devices a machine has.
//
// Called by backbones through the table of their device. Pointers are into that device's memory,
// row-major, inputs and outputs apart. A call starts the work on `stream` (ignored by the CPU) and
// returns 0 or the device's error code (DevicePlugin::error_text). Sums are float32 in a fixed
// order whatever the batch. This header is read by nvcc too: no LibTorch, no house types.
#pragma once

#include <cstdint>

namespace qfs::kernels {

enum class ElementType : int32_t { f32, bf16, f16 };

/// Rotates queries and keys (pairs (i, i + dim/2): Su et al. 2021, half-split layout) and writes
/// keys and values of each token to its place in one layer's cache. Without cosines and sines, as
/// for learned positions, queries and keys are copied as they are.
struct RotateStore {
  ElementType type = ElementType::f32;
  const void* qkv = nullptr;       ///< [tokens, heads + 2 kv_heads, dim]
  const float* cosines = nullptr;  ///< [context, dim / 2], or null
  const float* sines = nullptr;
  const int32_t* rows = nullptr;       ///< [tokens]: cache row
  const int32_t* positions = nullptr;  ///< [tokens]: place in that row, from 0
  int64_t tokens = 0;
  int64_t cache_rows = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t dim = 0;  ///< even where heads are rotated
  int64_t capacity = 0;
  void* queries = nullptr;  ///< [tokens, heads, dim]
  void* keys = nullptr;     ///< [cache rows, kv_heads, capacity, dim]
  void* values = nullptr;
};

/// Positions that one block of threads reads; its partial results are merged afterwards.
inline constexpr int64_t kDecodePart = 256;
/// Largest head dimension of decode_attention.
inline constexpr int64_t kMaxHeadDim = 256;

/// One query a token over its row's positions 0..position, each group of heads / kv_heads queries
/// sharing a key head (Ainslie et al. 2023), split over parts of the keys that are merged by their
/// maxima and sums (Dao et al. 2023, Flash-Decoding).
struct DecodeAttention {
  ElementType type = ElementType::f32;
  const void* queries = nullptr;  ///< [tokens, heads, dim]
  const void* keys = nullptr;     ///< [cache rows, kv_heads, capacity, dim]
  const void* values = nullptr;
  const int32_t* rows = nullptr;       ///< [tokens]
  const int32_t* positions = nullptr;  ///< [tokens]: of the token itself, already in the cache
  int64_t tokens = 0;
  int64_t cache_rows = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t dim = 0;  ///< at most kMaxHeadDim
  int64_t capacity = 0;
  int64_t parts = 0;  ///< parts of kDecodePart that the longest row has
  float scale = 1;
  float* workspace = nullptr;  ///< decode_workspace() floats
  void* out = nullptr;         ///< [tokens, heads, dim]
};

/// For each (token, head, part): a weighted sum of values, a maximum and a sum.
inline int64_t decode_workspace(int64_t tokens, int64_t heads, int64_t parts, int64_t dim) {
  return tokens * heads * parts * (dim + 2);
}

/// out = silu(gate) * up, silu(x) = x / (1 + e^-x) (Shazeer 2020).
struct GatedActivation {
  ElementType type = ElementType::f32;
  const void* gate_up = nullptr;  ///< [tokens, 2 width]: gate, then up
  int64_t tokens = 0;
  int64_t width = 0;
  void* out = nullptr;  ///< [tokens, width]
};

struct DeviceKernels {
  const char* name;  ///< "cpu" or "cuda"
  int (*rotate_store)(const RotateStore& task, void* stream);
  int (*decode_attention)(const DecodeAttention& task, void* stream);
  int (*gated_activation)(const GatedActivation& task, void* stream);
};

/// The CPU twins: plain loops, for tests and as the definition of what the others compute.
const DeviceKernels& cpu_device_kernels();

}  // namespace qfs::kernels
