#include "methods/models/kernels/memory_kernels.h"

#include <algorithm>
#include <cmath>

#include "methods/models/kernels/memory_loops.h"

namespace qfs::kernels {

namespace {

float sigma(float x) { return x > 0 ? x + 1 : std::exp(x); }

float dot(const float* a, const float* b, int64_t dim) {
  float sum = 0;
  for (int64_t i = 0; i < dim; ++i) sum += a[i] * b[i];
  return sum;
}

/// fresh -= rows matrix / weight.
QFS_VECTORS void subtract_read(const float* __restrict rows, const float* __restrict matrix,
                               float weight, int64_t dim, float* __restrict read,
                               float* __restrict fresh) {
  for (int64_t j = 0; j < dim; ++j) read[j] = 0;
  for (int64_t i = 0; i < dim; ++i) {
    const float by = rows[i];
    const float* __restrict row = matrix + i * dim;
    for (int64_t j = 0; j < dim; ++j) read[j] += by * row[j];
  }
  for (int64_t j = 0; j < dim; ++j) fresh[j] -= read[j] / weight;
}

/// matrix = (first ? 0 : matrix) + rows^T fresh.
QFS_VECTORS void write(const float* __restrict rows, const float* __restrict fresh, bool first,
                       int64_t dim, float* __restrict matrix) {
  for (int64_t i = 0; i < dim; ++i) {
    const float by = rows[i];
    float* __restrict row = matrix + i * dim;
    for (int64_t j = 0; j < dim; ++j) {
      const float sum = (first ? 0 : row[j]) + by * fresh[j];
      row[j] = sum > kMost ? kMost : (sum < -kMost ? -kMost : sum);
    }
  }
}

/// read = rows matrix / weight.
QFS_VECTORS void read_by(const float* __restrict rows, const float* __restrict matrix, float weight,
                         int64_t dim, float* __restrict read) {
  for (int64_t j = 0; j < dim; ++j) read[j] = 0;
  for (int64_t i = 0; i < dim; ++i) {
    const float by = rows[i];
    const float* __restrict row = matrix + i * dim;
    for (int64_t j = 0; j < dim; ++j) read[j] += by * row[j];
  }
  for (int64_t j = 0; j < dim; ++j) read[j] = cut(read[j] / weight);
}

}  // namespace

void step_memory(const MemoryStep& step) {
  const int64_t dim = step.dim;
  float* const key = step.scratch;
  float* const fresh = key + dim;
  float* const query = fresh + dim;
  float* const read = query + dim;
  for (int64_t i = 0; i < dim; ++i) key[i] = sigma(step.key[i]);
  const float before = step.first ? 1 : dot(key, step.norm, dim);
  const bool less = step.delta && !step.first;

  std::copy_n(step.value, dim, fresh);
  if (less) subtract_read(key, step.all, before, dim, read, fresh);
  write(key, fresh, step.first, dim, step.all);
  for (int64_t i = 0; i < dim; ++i) {
    step.norm[i] = cut((step.first ? 0 : step.norm[i]) + key[i]);
  }

  for (int64_t q = 0; q < step.queries; ++q) {
    for (int64_t i = 0; i < dim; ++i) query[i] = sigma(step.query[q * dim + i]);
    const float weight = dot(query, step.norm, dim);
    float* const past = step.past + q * dim;
    read_by(query, step.all, weight, dim, past);
    if (step.asked == nullptr) continue;
    float* const asked = step.asked + q * dim * dim;
    const float matters =
        logistic(dot(step.asking + q * dim, step.key, dim) * step.relevance_scale);
    for (int64_t i = 0; i < dim; ++i) fresh[i] = matters * step.value[i];
    if (less) subtract_read(key, asked, before, dim, read, fresh);
    write(key, fresh, step.first, dim, asked);
    read_by(query, asked, weight, dim, read);
    const float share = logistic(dot(step.weight, read, dim) + step.bias);
    for (int64_t i = 0; i < dim; ++i) past[i] += share * (read[i] - past[i]);
  }
}

}  // namespace qfs::kernels
