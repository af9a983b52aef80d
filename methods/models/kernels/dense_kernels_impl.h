// The kernels of dense_kernels.h, written once over a vector of floats.
//
// Included by exactly the files that define such a vector (`V`: kLanes, kRows, zero, load,
// broadcast, add, multiply_add, store) for one instruction set. What is not a product is plain
// loops, which the compiler vectorises without changing the order of a sum.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "methods/models/kernels/dense_kernels.h"
#include "methods/models/kernels/negative_exp.h"

namespace qfs::kernels {
namespace {

/// A row of a block at a weight's last columns, which are fewer than two vectors hold.
[[gnu::noinline]] inline void store_part(const float* values, float* to, int64_t columns,
                                         bool add) {
  for (int64_t i = 0; i < columns; ++i) to[i] = add ? to[i] + values[i] : values[i];
}

template <class V>
inline void store_row(V first, V second, float* to, int64_t columns, bool add) {
  if (columns >= 2 * V::kLanes) {
    (add ? V::add(V::load(to), first) : first).store(to);
    (add ? V::add(V::load(to + V::kLanes), second) : second).store(to + V::kLanes);
    return;
  }
  float values[2 * V::kLanes];
  first.store(values);
  second.store(values + V::kLanes);
  store_part(values, to, columns, add);
}

/// kRows rows of x against two vectors of a panel's columns. Not inlined, and every loop over rows
/// unrolled: one that is not keeps the sums in memory, and each step of the products writes them.
template <class V, int kRows>
[[gnu::noinline]] void multiply_block(const float* panel, const float* bias, const float* x,
                                      int64_t x_stride, int64_t inputs, float* y, int64_t y_stride,
                                      int64_t columns, bool add) {
  V first[kRows];
  V second[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    first[r] = V::load(bias);
    second[r] = V::load(bias + V::kLanes);
  }
  for (int64_t k = 0; k < inputs; ++k) {
    const V a = V::load(panel + k * kPanelWidth);
    const V b = V::load(panel + k * kPanelWidth + V::kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const V value = V::broadcast(x + r * x_stride + k);
      first[r] = V::multiply_add(value, a, first[r]);
      second[r] = V::multiply_add(value, b, second[r]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) store_row(first[r], second[r], y + r * y_stride, columns, add);
}

/// The last rows, fewer than a block has.
template <class V, int kRows>
void multiply_rest(int64_t rows, const float* panel, const float* bias, const float* x,
                   int64_t x_stride, int64_t inputs, float* y, int64_t y_stride, int64_t columns,
                   bool add) {
  if constexpr (kRows > 0) {
    if (rows == kRows) {
      multiply_block<V, kRows>(panel, bias, x, x_stride, inputs, y, y_stride, columns, add);
    } else {
      multiply_rest<V, kRows - 1>(rows, panel, bias, x, x_stride, inputs, y, y_stride, columns,
                                  add);
    }
  }
}

/// Asks for the next floats of a weight while the present ones are multiplied: weights are larger
/// than a core's cache.
inline void prefetch(const float* from, int64_t count) {
  for (int64_t i = 0; i < count; i += 16) __builtin_prefetch(from + i, 0, 2);
}

template <class V>
void multiply(const PanelProduct& product) {
  constexpr int64_t kStep = 2 * V::kLanes;
  const int64_t panel_size = kPanelWidth * product.inputs;
  const int64_t share = panel_size / std::max<int64_t>(product.rows / V::kRows, 1) + 1;
  for (int64_t column = 0; column < product.outputs; column += kStep) {
    const int64_t columns = std::min(kStep, product.outputs - column);
    const float* const panel =
        product.panels + column / kPanelWidth * kPanelWidth * product.inputs + column % kPanelWidth;
    float bias[kStep] = {};
    if (product.bias != nullptr) std::copy_n(product.bias + column, columns, bias);
    const float* x = product.x;
    float* y = product.y + column;
    int64_t rows = product.rows;
    int64_t ahead = column + kStep < product.outputs ? 0 : panel_size;
    for (; rows >= V::kRows; rows -= V::kRows) {
      prefetch(panel + panel_size + ahead, std::min(share, panel_size - ahead));
      ahead = std::min(ahead + share, panel_size);
      multiply_block<V, V::kRows>(panel, bias, x, product.x_stride, product.inputs, y,
                                  product.y_stride, columns, product.add);
      x += V::kRows * product.x_stride;
      y += V::kRows * product.y_stride;
    }
    multiply_rest<V, V::kRows - 1>(rows, panel, bias, x, product.x_stride, product.inputs, y,
                                   product.y_stride, columns, product.add);
  }
}

inline void gelu(float* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const float x = values[i];
    const float z = std::fabs(x) * 0.70710678F;
    const float t = 1.0F / (1.0F + 0.3275911F * z);
    float p = 1.061405429F;
    p = p * t - 1.453152027F;
    p = p * t + 1.421413741F;
    p = p * t - 0.284496736F;
    p = p * t + 0.254829592F;
    const float half_erfc = 0.5F * p * t * negative_exp(-z * z);
    const float rest = 1.0F - half_erfc;
    values[i] = x * (x < 0 ? half_erfc : rest);
  }
}

inline void gelu_tanh(float* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const float x = values[i];
    const float u = 1.5957691216F * (x + 0.044715F * x * x * x);  // 2 sqrt(2 / pi) (…)
    const float e = negative_exp(-std::fabs(u));
    values[i] = x * (u < 0 ? e : 1.0F) / (1.0F + e);
  }
}

constexpr int kSums = 16;

/// Sixteen running sums, folded in a fixed tree.
inline float folded(float* sums) {
  for (int width = kSums / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

/// Sum of `term(i)` over [0, count).
template <class Term>
float fixed_sum(int64_t count, Term&& term) {
  float sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int j = 0; j < kSums; ++j) sums[j] += term(i + j);
  }
  for (int j = 0; i + j < count; ++j) sums[j] += term(i + j);
  return folded(sums);
}

/// Of at least one value.
inline float maximum(const float* values, int64_t count) {
  float best[kSums];
  std::fill_n(best, kSums, values[0]);
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int j = 0; j < kSums; ++j) best[j] = best[j] < values[i + j] ? values[i + j] : best[j];
  }
  for (int j = 0; i + j < count; ++j) best[j] = std::max(best[j], values[i + j]);
  return *std::max_element(best, best + kSums);
}

inline void layer_norm(float* rows, int64_t count, int64_t width, const float* weight,
                       const float* bias, float eps) {
  const auto n = static_cast<float>(width);
  for (int64_t r = 0; r < count; ++r) {
    float* const row = rows + r * width;
    const float mean = fixed_sum(width, [&](int64_t i) { return row[i]; }) / n;
    const float variance =
        fixed_sum(width, [&](int64_t i) { return (row[i] - mean) * (row[i] - mean); }) / n;
    const float scale = 1.0F / std::sqrt(variance + eps);
    for (int64_t i = 0; i < width; ++i) row[i] = (row[i] - mean) * scale * weight[i] + bias[i];
  }
}

inline void softmax(float* rows, int64_t count, int64_t width, int64_t stride, float scale) {
  for (int64_t r = 0; r < count; ++r) {
    float* const row = rows + r * stride;
    const float largest = maximum(row, width);
    // Whole vectors: what stands behind the row ends as e^-87, which changes no sum.
    std::fill(row + width, row + stride, -std::numeric_limits<float>::max());
    for (int64_t i = 0; i < stride; ++i) row[i] = negative_exp((row[i] - largest) * scale);
    const float factor = 1.0F / fixed_sum(stride, [&](int64_t i) { return row[i]; });
    // Their share would be a subnormal number, which takes some processors a hundred cycles.
    std::fill(row + width, row + stride, 0.0F);
    for (int64_t i = 0; i < stride; ++i) row[i] *= factor;
  }
}

inline void softmax_gradient(const float* results, float* above, int64_t count, int64_t width,
                             float scale) {
  for (int64_t r = 0; r < count; ++r, results += width, above += width) {
    const float mean = fixed_sum(width, [&](int64_t i) { return results[i] * above[i]; });
    for (int64_t i = 0; i < width; ++i) above[i] = scale * results[i] * (above[i] - mean);
  }
}

template <class V>
constexpr DenseKernels make_dense_kernels(const char* instruction_set) {
  return {instruction_set, multiply<V>, gelu, gelu_tanh, layer_norm, softmax, softmax_gradient};
}

}  // namespace
}  // namespace qfs::kernels
