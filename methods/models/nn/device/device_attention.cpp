#include "methods/models/nn/device/device_attention.h"

#include <ATen/ops/empty.h>

#include <cmath>
#include <stdexcept>

namespace qfs::nn {

kernels::ElementType element_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return kernels::ElementType::f32;
    case at::kBFloat16:
      return kernels::ElementType::bf16;
    case at::kHalf:
      return kernels::ElementType::f16;
    default:
      throw std::invalid_argument("weights of an unexpected element type");
  }
}

int64_t parts_of(int64_t positions) {
  return (positions + kernels::kDecodePart - 1) / kernels::kDecodePart;
}

at::Tensor DeviceAttention::store(const at::Tensor& qkv, const CachePlaces& places,
                                  const LayerCache& cache, const Rotations& rotations) const {
  kernels::RotateStore task;
  task.type = element_type(qkv);
  task.tokens = qkv.size(0);
  task.cache_rows = cache.keys.size(0);
  task.kv_heads = cache.keys.size(1);
  task.capacity = cache.keys.size(2);
  task.dim = cache.keys.size(3);
  task.heads = qkv.size(1) / task.dim - 2 * task.kv_heads;
  const at::Tensor queries = at::empty({task.tokens, task.heads, task.dim}, qkv.options());
  task.qkv = qkv.const_data_ptr();
  if (rotations.cosines.defined()) {
    task.cosines = rotations.cosines.const_data_ptr<float>();
    task.sines = rotations.sines.const_data_ptr<float>();
  }
  task.rows = places.rows.const_data_ptr<int32_t>();
  task.positions = places.positions.const_data_ptr<int32_t>();
  task.queries = queries.mutable_data_ptr();
  task.keys = cache.keys.mutable_data_ptr();
  task.values = cache.values.mutable_data_ptr();
  services_.must(services_.kernels->rotate_store(task, stream()));
  return queries;
}

at::Tensor DeviceAttention::attend(const at::Tensor& queries, const CachePlaces& places,
                                   const LayerCache& cache) const {
  kernels::DecodeAttention task;
  task.type = element_type(queries);
  task.tokens = queries.size(0);
  task.heads = queries.size(1);
  task.cache_rows = cache.keys.size(0);
  task.kv_heads = cache.keys.size(1);
  task.dim = queries.size(2);
  task.capacity = cache.keys.size(2);
  task.parts = places.parts;
  task.scale = 1.0f / std::sqrt(static_cast<float>(task.dim));
  const at::Tensor out = at::empty({task.tokens, task.heads * task.dim}, queries.options());
  const at::Tensor workspace =
      at::empty({kernels::decode_workspace(task.tokens, task.heads, task.parts, task.dim)},
                queries.options().dtype(at::kFloat));
  task.queries = queries.const_data_ptr();
  task.keys = cache.keys.const_data_ptr();
  task.values = cache.values.const_data_ptr();
  task.rows = places.rows.const_data_ptr<int32_t>();
  task.positions = places.positions.const_data_ptr<int32_t>();
  task.workspace = workspace.mutable_data_ptr<float>();
  task.out = out.mutable_data_ptr();
  services_.must(services_.kernels->decode_attention(task, stream()));
  return out;
}

}  // namespace qfs::nn
