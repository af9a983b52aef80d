// The kernels of cpu_kernels.h, written once over a vector of eight floats.
//
// Included by exactly the files that define such a vector (`V` below) for one instruction set,
// inside an anonymous namespace of theirs, so that code compiled for different sets never mixes.
// Every sum has a fixed order: eight lanes along the inner dimension, folded in a fixed tree, then
// the tail.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/kernels/weight_stream.h"

namespace qfs::kernels {
namespace {

template <class V>
float dot(const float* a, const float* b, int64_t count) {
  V sums = V::zero();
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) sums = V::multiply_add(V::load(a + i), V::load(b + i), sums);
  float total = sums.sum();
  for (; i < count; ++i) total += a[i] * b[i];
  return total;
}

template <class V>
void rotate(const float* in, const float* cosines, const float* sines, int64_t dim, float* out) {
  const int64_t half = dim / 2;
  for (int64_t i = 0; i < half; ++i) {
    const float first = in[i];
    const float second = in[half + i];
    out[i] = first * cosines[i] - second * sines[i];
    out[half + i] = second * cosines[i] + first * sines[i];
  }
}

template <class V>
void rms_norm(const float* in, const float* weight, int64_t dim, float eps, float* out) {
  const float scale = 1.0f / std::sqrt(dot<V>(in, in, dim) / static_cast<float>(dim) + eps);
  for (int64_t i = 0; i < dim; ++i) out[i] = in[i] * scale * weight[i];
}

template <class V>
void silu_multiply(const float* gate, const float* up, int64_t count, float* out) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const V x = V::load(gate + i);
    (x * V::load(up + i) / (V::one() + V::exp(V::zero() - x))).store(out + i);
  }
  for (; i < count; ++i) out[i] = gate[i] * up[i] / (1.0f + std::exp(-gate[i]));
}

template <class V>
void silu_gradient(const float* gate, const float* up, const float* above, int64_t count,
                   float* of_gate, float* of_up) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const V x = V::load(gate + i);
    const V share = V::one() / (V::one() + V::exp(V::zero() - x));
    const V a = V::load(above + i);
    (a * V::load(up + i) * share * (V::one() + x * (V::one() - share))).store(of_gate + i);
    (a * x * share).store(of_up + i);
  }
  for (; i < count; ++i) {
    const float share = 1.0f / (1.0f + std::exp(-gate[i]));
    of_gate[i] = above[i] * up[i] * share * (1.0f + gate[i] * (1.0f - share));
    of_up[i] = above[i] * gate[i] * share;
  }
}

/// kRows rows of the weight against kInputs inputs: one vector of sums each, so that the order of a
/// sum depends on neither number.
template <class V, int kRows, int kInputs>
void matvec_block(const MatVec& task, const float* rows, int64_t row, int64_t input) {
  const int64_t inner = task.inner;
  const float* weight = rows + row * inner;
  const float* x = task.x + input * inner;
  V sums[kRows][kInputs];
  for (auto& of_row : sums) {
    for (V& sum : of_row) sum = V::zero();
  }
  const auto add = [&](int64_t from) {
    V inputs[kInputs];
    for (int b = 0; b < kInputs; ++b) inputs[b] = V::load(x + b * inner + from);
    for (int r = 0; r < kRows; ++r) {
      const V w = V::load(weight + r * inner + from);
      for (int b = 0; b < kInputs; ++b) sums[r][b] = V::multiply_add(w, inputs[b], sums[r][b]);
    }
  };
  int64_t k = 0;
  for (; k + kLine <= inner; k += kLine) {
    if constexpr (kRows > 1) {
      // The rows that come next: the processor foresees one stream of reads, not several short
      // ones.
      for (int r = 0; r < kRows; ++r) __builtin_prefetch(weight + (r + kRows) * inner + k);
    } else if constexpr (kInputs == 1) {
      ask_ahead(weight + k);
    }
    for (int64_t from = k; from < k + kLine; from += 8) add(from);
  }
  for (; k + 8 <= inner; k += 8) add(k);
  for (int r = 0; r < kRows; ++r) {
    for (int b = 0; b < kInputs; ++b) {
      float total = sums[r][b].sum();
      for (int64_t tail = k; tail < inner; ++tail) {
        total += weight[r * inner + tail] * x[b * inner + tail];
      }
      float& y = task.y[(input + b) * task.y_stride + row + r];
      y = task.accumulate ? y + total : total;
    }
  }
}

template <class V, int kRows>
void matvec_rows(const MatVec& task, const float* rows, int64_t row) {
  int64_t input = 0;
  if constexpr (kRows <= 2) {
    for (; input + 4 <= task.batch; input += 4) matvec_block<V, kRows, 4>(task, rows, row, input);
  }
  if constexpr (kRows <= 4) {
    for (; input + 2 <= task.batch; input += 2) matvec_block<V, kRows, 2>(task, rows, row, input);
  }
  for (; input < task.batch; ++input) matvec_block<V, kRows, 1>(task, rows, row, input);
}

/// One input: a row after the other, which is one stream of reads at the rate of the memory; sums
/// of neighbouring rows overlap by themselves. More inputs: eight sums in flight hide the latency
/// of an addition, 4 rows x 2 inputs or 2 x 4.
template <class V>
void matvec_expanded(const MatVec& task, const float* rows, int64_t row_begin, int64_t row_end) {
  int64_t row = row_begin;
  if (task.batch == 2 || task.batch == 3) {
    for (; row + 4 <= row_end; row += 4) matvec_rows<V, 4>(task, rows, row);
  } else if (task.batch >= 4) {
    for (; row + 2 <= row_end; row += 2) matvec_rows<V, 2>(task, rows, row);
  }
  for (; row < row_end; ++row) matvec_rows<V, 1>(task, rows, row);
}

template <class V>
void matvec(const MatVec& task, int64_t row_begin, int64_t row_end) {
  if (task.type == checkpoints::TensorType::f32) {
    matvec_expanded<V>(task, reinterpret_cast<const float*>(task.weight), row_begin, row_end);
    return;
  }
  if (task.batch == 1 && V::matvec_packed(task, row_begin, row_end)) return;
  // Some rows at a time: they stay in the nearest cache between the two passes.
  constexpr int64_t kExpandedElements = 8192;
  float expanded[kMaxPackedRow];
  const int64_t group = std::clamp<int64_t>(kExpandedElements / task.inner / 2 * 2, 1, 8);
  for (int64_t row = row_begin; row < row_end; row += group) {
    const int64_t rows = std::min(group, row_end - row);
    V::expand(task.type, task.weight + row * task.row_bytes, rows * task.inner, expanded);
    MatVec part = task;
    part.y = task.y + row;
    matvec_expanded<V>(part, expanded, 0, rows);
  }
}

/// The first query of a part brings its values near while it reads the keys: the others find both
/// in a cache.
inline void fetch_position(const AttentionPart& part, const float* key, const float* value) {
  for (int64_t i = 0; i < part.dim; i += kLine) {
    ask_ahead(key + i);
    __builtin_prefetch(value + i, 0, 2);
  }
}

/// Values [first, first + 8 kVectors) of every position, weighted by `part.scores`.
template <class V, int kVectors>
void add_values(const AttentionPart& part, int64_t first, float* out) {
  V sums[kVectors];
  for (V& sum : sums) sum = V::zero();
  for (int64_t p = part.begin; p < part.end; ++p) {
    const V factor = V::broadcast(part.scores[p - part.begin]);
    const float* value = part.values + p * part.dim + first;
    for (int i = 0; i < kVectors; ++i) {
      sums[i] = V::multiply_add(factor, V::load(value + i * 8), sums[i]);
    }
  }
  for (int i = 0; i < kVectors; ++i) sums[i].store(out + first + i * 8);
}

template <class V>
void attend(const AttentionPart& part) {
  const int64_t dim = part.dim;
  const int64_t positions = part.end - part.begin;
  const float* keys = part.keys + part.begin * dim;
  const float* values = part.values + part.begin * dim;
  for (int64_t head = 0; head < part.heads; ++head) {
    const float* query = part.queries + head * dim;
    float* out = part.out + head * dim;
    float maximum = -std::numeric_limits<float>::infinity();
    for (int64_t p = 0; p < positions; ++p) {
      if (head == 0) fetch_position(part, keys + p * dim, values + p * dim);
      part.scores[p] = dot<V>(query, keys + p * dim, dim) * part.scale;
      maximum = part.scores[p] > maximum ? part.scores[p] : maximum;
    }
    float sum = 0;
    for (int64_t p = 0; p < positions; ++p) {
      part.scores[p] = std::exp(part.scores[p] - maximum);
      sum += part.scores[p];
    }
    int64_t i = 0;
    for (; i + 64 <= dim; i += 64) add_values<V, 8>(part, i, out);
    for (; i + 8 <= dim; i += 8) add_values<V, 1>(part, i, out);
    for (; i < dim; ++i) {
      out[i] = 0;
      for (int64_t p = 0; p < positions; ++p) out[i] += part.scores[p] * values[p * dim + i];
    }
    part.maximum[head] = maximum;
    part.sum[head] = sum;
  }
}

template <class V>
constexpr CpuKernels make_kernels(const char* instruction_set) {
  return {instruction_set,  rotate<V>, rms_norm<V>, silu_multiply<V>,
          silu_gradient<V>, V::expand, matvec<V>,   attend<V>};
}

}  // namespace
}  // namespace qfs::kernels
