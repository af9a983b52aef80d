// DeviceAttention: attention of single queries over key-value caches on a device, by its kernels
// (methods/models/kernels/device_kernels.h), which read rows and lengths on the device.
//
// Used by models on a device. Starts work and waits for none; throws what LibTorch and the device
// throw. Thread-compatible.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "methods/models/nn/device/device_services.h"
#include "methods/models/nn/rope.h"

namespace qfs::nn {

/// That of a tensor of weights; another one than the kernels have is a programming error.
kernels::ElementType element_type(const at::Tensor& tensor);

/// The number of parts that positions are read in, DecodeAttention::parts.
int64_t parts_of(int64_t positions);

/// Keys and values of one layer: [cache rows, kv_heads, capacity, dim] each.
struct LayerCache {
  at::Tensor keys;
  at::Tensor values;
};

/// A place in a cache for each token.
struct CachePlaces {
  at::Tensor rows;       ///< int32 [tokens]
  at::Tensor positions;  ///< int32 [tokens]: of the token itself, or the last one that it sees
  int64_t parts = 0;     ///< of the longest row
};

class DeviceAttention {
 public:
  DeviceAttention(const DeviceServices& services, at::Device device)
      : services_(services), device_(device) {}

  /// Queries [tokens, heads, dim] of qkv [tokens, (heads + 2 kv_heads) * dim]; keys and values go
  /// to their places. Queries and keys are rotated where there are `rotations`.
  at::Tensor store(const at::Tensor& qkv, const CachePlaces& places, const LayerCache& cache,
                   const Rotations& rotations = {}) const;

  /// queries [tokens, heads, dim] over positions 0 to places.positions: [tokens, heads * dim].
  /// Scores are divided by the square root of dim.
  at::Tensor attend(const at::Tensor& queries, const CachePlaces& places,
                    const LayerCache& cache) const;

 private:
  void* stream() const { return services_.current_stream(device_.index()); }

  DeviceServices services_;
  at::Device device_;
};

}  // namespace qfs::nn
