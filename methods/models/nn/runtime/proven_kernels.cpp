#include "methods/models/nn/runtime/proven_kernels.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace qfs::nn {

namespace {

using kernels::DecodeAttention;
using kernels::DeviceKernels;
using kernels::ElementType;
using kernels::GatedActivation;
using kernels::RotateStore;

at::ScalarType scalar_type(ElementType type) {
  if (type == ElementType::bf16) return at::kBFloat16;
  return type == ElementType::f16 ? at::kHalf : at::kFloat;
}

/// Memory of a device as tensors.
template <at::DeviceType kType>
struct Memory {
  static at::TensorOptions options(at::ScalarType scalar) {
    return at::TensorOptions(scalar).device(kType == at::kCPU ? at::Device(kType)
                                                              : at::Device(kType, 0));
  }
  static at::Tensor tensor(const void* data, at::IntArrayRef sizes, at::ScalarType scalar) {
    return at::from_blob(const_cast<void*>(data), sizes, options(scalar));
  }
};

template <at::DeviceType kType>
int rotate_store(const RotateStore& task, void*) {
  if (task.tokens == 0) return 0;
  using Of = Memory<kType>;
  const at::ScalarType type = scalar_type(task.type);
  const at::Tensor qkv =
      Of::tensor(task.qkv, {task.tokens, task.heads + 2 * task.kv_heads, task.dim}, type);
  const at::Tensor rows = Of::tensor(task.rows, {task.tokens}, at::kInt).to(at::kLong);
  const at::Tensor positions = Of::tensor(task.positions, {task.tokens}, at::kInt).to(at::kLong);
  const int64_t half = task.dim / 2;
  const auto turned = [&](const at::Tensor& heads) {
    if (task.cosines == nullptr) return heads;
    const auto of_tokens = [&](const float* table) {
      return Of::tensor(table, {task.capacity, half}, at::kFloat)
          .index_select(0, positions)
          .unsqueeze(1);
    };
    const at::Tensor cosines = of_tokens(task.cosines);
    const at::Tensor sines = of_tokens(task.sines);
    const at::Tensor first = heads.narrow(2, 0, half).to(at::kFloat);
    const at::Tensor second = heads.narrow(2, half, half).to(at::kFloat);
    return at::cat({first * cosines - second * sines, second * cosines + first * sines}, 2)
        .to(type);
  };
  Of::tensor(task.queries, {task.tokens, task.heads, task.dim}, type)
      .copy_(turned(qkv.narrow(1, 0, task.heads)));
  const at::Tensor heads_of_cache = at::arange(task.kv_heads, rows.options());
  const at::Tensor places =
      (rows.unsqueeze(1) * task.kv_heads + heads_of_cache) * task.capacity + positions.unsqueeze(1);
  const auto put = [&](void* cache, const at::Tensor& heads) {
    const int64_t all = task.cache_rows * task.kv_heads * task.capacity;
    Of::tensor(cache, {all, task.dim}, type)
        .index_copy_(0, places.flatten(), heads.reshape({-1, task.dim}));
  };
  put(task.keys, turned(qkv.narrow(1, task.heads, task.kv_heads)));
  put(task.values, qkv.narrow(1, task.heads + task.kv_heads, task.kv_heads));
  return 0;
}

template <at::DeviceType kType>
int decode_attention(const DecodeAttention& task, void*) {
  if (task.tokens == 0) return 0;
  using Of = Memory<kType>;
  const at::ScalarType type = scalar_type(task.type);
  const int64_t longest = std::min(task.parts * kernels::kDecodePart, task.capacity);
  const int64_t group = task.heads / task.kv_heads;
  const at::Tensor rows = Of::tensor(task.rows, {task.tokens}, at::kInt);
  const at::Tensor positions = Of::tensor(task.positions, {task.tokens}, at::kInt);
  const auto read = [&](const void* cache) {
    return Of::tensor(cache, {task.cache_rows, task.kv_heads, task.capacity, task.dim}, type)
        .narrow(2, 0, longest)
        .index_select(0, rows)
        .to(at::kFloat);
  };
  const at::Tensor queries =
      Of::tensor(task.queries, {task.tokens, task.kv_heads, group, task.dim}, type).to(at::kFloat) *
      task.scale;
  at::Tensor scores = at::matmul(queries, read(task.keys).transpose(2, 3));
  const at::Tensor behind =
      at::arange(longest, positions.options()).unsqueeze(0) > positions.unsqueeze(1);
  scores.masked_fill_(behind.view({task.tokens, 1, 1, longest}),
                      -std::numeric_limits<double>::infinity());
  // What lies behind the last position may never have been written, and 0 times NaN is NaN.
  const at::Tensor values =
      read(task.values).masked_fill_(behind.view({task.tokens, 1, longest, 1}), 0);
  Of::tensor(task.out, {task.tokens, task.kv_heads, group, task.dim}, type)
      .copy_(at::matmul(at::softmax(scores, 3), values));
  return 0;
}

template <at::DeviceType kType>
int gated_activation(const GatedActivation& task, void*) {
  if (task.tokens == 0) return 0;
  using Of = Memory<kType>;
  const at::ScalarType type = scalar_type(task.type);
  const at::Tensor both =
      Of::tensor(task.gate_up, {task.tokens, 2, task.width}, type).to(at::kFloat);
  Of::tensor(task.out, {task.tokens, task.width}, type)
      .copy_(at::silu(both.select(1, 0)) * both.select(1, 1));
  return 0;
}

template <at::DeviceType kType>
constexpr DeviceKernels kLibTorch{"libtorch", &rotate_store<kType>, &decode_attention<kType>,
                                  &gated_activation<kType>};

struct Shape {
  int64_t heads;
  int64_t kv_heads;
  int64_t dim;
};

/// Heads of their own and shared ones, of the sizes that checkpoints have.
constexpr Shape kShapes[] = {{12, 12, 64}, {9, 3, 64}, {8, 8, 80}, {32, 8, 128}, {8, 1, 256}};
constexpr int64_t kCapacity = 600;
constexpr int32_t kRows[] = {2, 0, 1};
constexpr int32_t kPositions[] = {0, 599, 258};  // a part of keys, three, two
constexpr int64_t kTokens = 3;
constexpr int64_t kParts = 3;
constexpr int64_t kWidths[] = {8, 1536, 4097};

/// Runs a kernel beside LibTorch's.
class Trial {
 public:
  Trial(const DeviceKernels& kernels, at::Device device, void* stream, ElementType type)
      : kernels_(kernels),
        reference_(libtorch_kernels(device.type())),
        device_(device),
        stream_(stream),
        type_(type),
        random_(at::make_generator<at::CPUGeneratorImpl>(uint64_t{7})),
        rows_(at::tensor(at::ArrayRef<int32_t>(kRows)).to(device)),
        positions_(at::tensor(at::ArrayRef<int32_t>(kPositions)).to(device)) {}

  bool rotate_store(const Shape& shape, bool angles) {
    const at::Tensor qkv = random({kTokens, shape.heads + 2 * shape.kv_heads, shape.dim});
    const at::Tensor angle = at::randn({kCapacity, shape.dim / 2}, random_);
    const at::Tensor cosines = angle.cos().to(device_);
    const at::Tensor sines = angle.sin().to(device_);
    const at::Tensor cache = random({2, kTokens, shape.kv_heads, kCapacity, shape.dim});
    return alike([&](const DeviceKernels& by, std::vector<at::Tensor>& out) {
      out = {poisoned({kTokens, shape.heads, shape.dim}), cache.clone()};
      RotateStore task;
      task.type = type_;
      task.qkv = qkv.const_data_ptr();
      if (angles) {
        task.cosines = cosines.const_data_ptr<float>();
        task.sines = sines.const_data_ptr<float>();
      }
      task.rows = rows_.const_data_ptr<int32_t>();
      task.positions = positions_.const_data_ptr<int32_t>();
      task.tokens = task.cache_rows = kTokens;
      task.heads = shape.heads;
      task.kv_heads = shape.kv_heads;
      task.dim = shape.dim;
      task.capacity = kCapacity;
      task.queries = out[0].mutable_data_ptr();
      task.keys = out[1].select(0, 0).mutable_data_ptr();
      task.values = out[1].select(0, 1).mutable_data_ptr();
      return by.rotate_store(task, stream_);
    });
  }

  bool decode_attention(const Shape& shape) {
    const at::Tensor queries = random({kTokens, shape.heads, shape.dim});
    const at::Tensor cache = random({2, kTokens, shape.kv_heads, kCapacity, shape.dim});
    const at::Tensor workspace =
        at::empty({kernels::decode_workspace(kTokens, shape.heads, kParts, shape.dim)},
                  cache.options().dtype(at::kFloat));
    return alike([&](const DeviceKernels& by, std::vector<at::Tensor>& out) {
      out = {poisoned({kTokens, shape.heads, shape.dim})};
      DecodeAttention task;
      task.type = type_;
      task.queries = queries.const_data_ptr();
      task.keys = cache.select(0, 0).const_data_ptr();
      task.values = cache.select(0, 1).const_data_ptr();
      task.rows = rows_.const_data_ptr<int32_t>();
      task.positions = positions_.const_data_ptr<int32_t>();
      task.tokens = task.cache_rows = kTokens;
      task.heads = shape.heads;
      task.kv_heads = shape.kv_heads;
      task.dim = shape.dim;
      task.capacity = kCapacity;
      task.parts = kParts;
      task.scale = 1.0f / std::sqrt(static_cast<float>(shape.dim));
      task.workspace = workspace.mutable_data_ptr<float>();
      task.out = out[0].mutable_data_ptr();
      return by.decode_attention(task, stream_);
    });
  }

  bool gated_activation(int64_t width) {
    const at::Tensor gate_up = random({kTokens, 2 * width});
    return alike([&](const DeviceKernels& by, std::vector<at::Tensor>& out) {
      out = {poisoned({kTokens, width})};
      GatedActivation task;
      task.type = type_;
      task.gate_up = gate_up.const_data_ptr();
      task.tokens = kTokens;
      task.width = width;
      task.out = out[0].mutable_data_ptr();
      return by.gated_activation(task, stream_);
    });
  }

 private:
  at::Tensor random(at::IntArrayRef sizes) {
    return at::randn(sizes, random_).to(scalar_type(type_)).to(device_);
  }
  at::Tensor poisoned(at::IntArrayRef sizes) const {
    return at::full(sizes, std::numeric_limits<double>::quiet_NaN())
        .to(scalar_type(type_))
        .to(device_);
  }

  /// Of the largest value: float32 sums in another order, other types rounded once from them.
  double tolerance() const {
    if (type_ == ElementType::bf16) return 1e-2;
    return type_ == ElementType::f16 ? 2e-3 : 1e-5;
  }

  template <class Run>
  bool alike(const Run& run) const {
    std::vector<at::Tensor> expected;
    std::vector<at::Tensor> found;
    run(reference_, expected);
    if (run(kernels_, found) != 0) return false;
    for (size_t i = 0; i < found.size(); ++i) {
      const at::Tensor wanted = expected[i].to(at::kCPU, at::kFloat);
      const double difference =
          (found[i].to(at::kCPU, at::kFloat) - wanted).abs().max().item<double>();
      // False for NaN.
      if (!(difference <= tolerance() * wanted.abs().max().item<double>())) return false;
    }
    return true;
  }

  const DeviceKernels& kernels_;
  const DeviceKernels& reference_;
  at::Device device_;
  void* stream_;
  ElementType type_;
  at::Generator random_;
  at::Tensor rows_;
  at::Tensor positions_;
};

}  // namespace

const DeviceKernels& libtorch_kernels(at::DeviceType type) {
  return type == at::kCPU ? kLibTorch<at::kCPU> : kLibTorch<at::kCUDA>;
}

ProvenKernels prove(const DeviceKernels& kernels, at::Device device, void* stream) {
  bool rotates = true;
  bool attends = true;
  bool activates = true;
  for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::f16}) {
    Trial trial(kernels, device, stream, type);
    for (const Shape& shape : kShapes) {
      rotates = rotates && trial.rotate_store(shape, true) && trial.rotate_store(shape, false);
      attends = attends && trial.decode_attention(shape);
    }
    for (const int64_t width : kWidths) activates = activates && trial.gated_activation(width);
  }
  const DeviceKernels& libtorch = libtorch_kernels(device.type());
  ProvenKernels proven{kernels, {}};
  const auto replace = [&](auto member, const char* name) {
    proven.kernels.*member = libtorch.*member;
    proven.replaced.emplace_back(name);
  };
  if (!rotates) replace(&DeviceKernels::rotate_store, "rotate_store");
  if (!attends) replace(&DeviceKernels::decode_attention, "decode_attention");
  if (!activates) replace(&DeviceKernels::gated_activation, "gated_activation");
  return proven;
}

}  // namespace qfs::nn
