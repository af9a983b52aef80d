#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "methods/models/kernels/device_kernels.h"

namespace qfs::kernels {

namespace {

/// Calls `body` with a null pointer of the element type.
template <class Body>
int with_type(ElementType type, const Body& body) {
  switch (type) {
    case ElementType::f32:
      body(static_cast<float*>(nullptr));
      break;
    case ElementType::bf16:
      body(static_cast<c10::BFloat16*>(nullptr));
      break;
    case ElementType::f16:
      body(static_cast<c10::Half*>(nullptr));
      break;
  }
  return 0;
}

template <class T>
void rotate_head(const T* in, const float* cosines, const float* sines, int64_t dim, T* out) {
  const int64_t half = dim / 2;
  for (int64_t i = 0; i < half; ++i) {
    const auto a = static_cast<float>(in[i]);
    const auto b = static_cast<float>(in[i + half]);
    out[i] = static_cast<T>(a * cosines[i] - b * sines[i]);
    out[i + half] = static_cast<T>(b * cosines[i] + a * sines[i]);
  }
}

template <class T>
void rotate_store_of(const RotateStore& task) {
  const int64_t dim = task.dim;
  for (int64_t t = 0; t < task.tokens; ++t) {
    const T* qkv = static_cast<const T*>(task.qkv) + t * (task.heads + 2 * task.kv_heads) * dim;
    const auto put = [&](const T* head, T* out) {
      if (task.cosines == nullptr) {
        std::copy(head, head + dim, out);
        return;
      }
      const int64_t angles = task.positions[t] * (dim / 2);
      rotate_head(head, task.cosines + angles, task.sines + angles, dim, out);
    };
    T* queries = static_cast<T*>(task.queries) + t * task.heads * dim;
    for (int64_t h = 0; h < task.heads; ++h) put(qkv + h * dim, queries + h * dim);
    for (int64_t h = 0; h < task.kv_heads; ++h) {
      const int64_t place =
          ((task.rows[t] * task.kv_heads + h) * task.capacity + task.positions[t]) * dim;
      const T* key = qkv + (task.heads + h) * dim;
      const T* value = key + task.kv_heads * dim;
      put(key, static_cast<T*>(task.keys) + place);
      std::copy(value, value + dim, static_cast<T*>(task.values) + place);
    }
  }
}

template <class T>
void attend_head(const DecodeAttention& task, int64_t t, int64_t head, std::vector<float>& scores,
                 std::vector<float>& sums) {
  const int64_t dim = task.dim;
  const int64_t kv_head = head / (task.heads / task.kv_heads);
  const int64_t offset = (task.rows[t] * task.kv_heads + kv_head) * task.capacity * dim;
  const T* keys = static_cast<const T*>(task.keys) + offset;
  const T* values = static_cast<const T*>(task.values) + offset;
  const T* query = static_cast<const T*>(task.queries) + (t * task.heads + head) * dim;
  const int64_t length = task.positions[t] + 1;
  scores.resize(static_cast<size_t>(length));
  for (int64_t p = 0; p < length; ++p) {
    float dot = 0;
    for (int64_t i = 0; i < dim; ++i) {
      dot += static_cast<float>(query[i]) * task.scale * static_cast<float>(keys[p * dim + i]);
    }
    scores[static_cast<size_t>(p)] = dot;
  }
  const float largest = *std::ranges::max_element(scores);
  float total = 0;
  sums.assign(static_cast<size_t>(dim), 0.0f);
  for (int64_t p = 0; p < length; ++p) {
    const float weight = std::exp(scores[static_cast<size_t>(p)] - largest);
    total += weight;
    for (int64_t i = 0; i < dim; ++i) {
      sums[static_cast<size_t>(i)] += weight * static_cast<float>(values[p * dim + i]);
    }
  }
  T* out = static_cast<T*>(task.out) + (t * task.heads + head) * dim;
  for (int64_t i = 0; i < dim; ++i) out[i] = static_cast<T>(sums[static_cast<size_t>(i)] / total);
}

template <class T>
void gated_activation_of(const GatedActivation& task) {
  for (int64_t t = 0; t < task.tokens; ++t) {
    const T* gate = static_cast<const T*>(task.gate_up) + t * 2 * task.width;
    const T* up = gate + task.width;
    T* out = static_cast<T*>(task.out) + t * task.width;
    for (int64_t i = 0; i < task.width; ++i) {
      const auto x = static_cast<float>(gate[i]);
      out[i] = static_cast<T>(x / (1.0f + std::exp(-x)) * static_cast<float>(up[i]));
    }
  }
}

int rotate_store(const RotateStore& task, void*) {
  return with_type(
      task.type, [&](auto* type) { rotate_store_of<std::remove_pointer_t<decltype(type)>>(task); });
}

int decode_attention(const DecodeAttention& task, void*) {
  std::vector<float> scores;
  std::vector<float> sums;
  return with_type(task.type, [&](auto* type) {
    for (int64_t t = 0; t < task.tokens; ++t) {
      for (int64_t head = 0; head < task.heads; ++head) {
        attend_head<std::remove_pointer_t<decltype(type)>>(task, t, head, scores, sums);
      }
    }
  });
}

int gated_activation(const GatedActivation& task, void*) {
  return with_type(task.type, [&](auto* type) {
    gated_activation_of<std::remove_pointer_t<decltype(type)>>(task);
  });
}

}  // namespace

const DeviceKernels& cpu_device_kernels() {
  static constexpr DeviceKernels kKernels{"cpu", &rotate_store, &decode_attention,
                                          &gated_activation};
  return kKernels;
}

}  // namespace qfs::kernels
