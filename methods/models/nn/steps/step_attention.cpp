#include "methods/models/nn/steps/step_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "methods/models/kernels/cpu_kernels.h"

namespace qfs::nn {

namespace {

/// Positions that one task reads: fixed, so that sums do not depend on threads.
constexpr int64_t kPart = 256;

int64_t parts_of(int64_t length) { return (length + kPart - 1) / kPart; }

/// Merges the parts of one query head: sum_p e^(m_p - m) out_p / sum_p e^(m_p - m) sum_p.
void merge_parts(const float* maximum, const float* sum, const float* partial, int64_t parts,
                 int64_t group, int64_t dim, float* out) {
  float largest = -std::numeric_limits<float>::infinity();
  for (int64_t p = 0; p < parts; ++p) largest = std::max(largest, maximum[p * group]);
  float total = 0;
  std::fill(out, out + dim, 0.0f);
  for (int64_t p = 0; p < parts; ++p) {
    const float factor = std::exp(maximum[p * group] - largest);
    total += factor * sum[p * group];
    for (int64_t i = 0; i < dim; ++i) out[i] += factor * partial[p * group * dim + i];
  }
  for (int64_t i = 0; i < dim; ++i) out[i] /= total;
}

}  // namespace

StepAttention::StepAttention(int64_t heads, int64_t kv_heads, int64_t dim)
    : heads_(heads), kv_heads_(kv_heads), dim_(dim), group_(heads / kv_heads) {}

void StepAttention::reserve(int64_t rows, int64_t length) {
  if (rows <= rows_ && parts_of(length) <= parts_) return;
  rows_ = std::max(rows, rows_);
  parts_ = std::max(parts_of(length), parts_);
  const auto tasks = static_cast<size_t>(kv_heads_ * rows_ * parts_);
  const auto queries = tasks * static_cast<size_t>(group_);
  scores_.resize(tasks * kPart);
  maximum_.resize(queries);
  sum_.resize(queries);
  partial_.resize(queries * static_cast<size_t>(dim_));
}

void StepAttention::attend_part(const float* queries, const AttendedRow& row, int64_t slot,
                                int64_t part) {
  kernels::AttentionPart task;
  task.begin = part * kPart;
  task.end = std::min(row.length, task.begin + kPart);
  if (task.begin >= task.end) return;
  const int64_t index = slot * parts_ + part;
  task.queries = queries;
  task.keys = row.keys;
  task.values = row.values;
  task.heads = group_;
  task.dim = dim_;
  task.scale = 1.0f / std::sqrt(static_cast<float>(dim_));
  task.scores = scores_.data() + index * kPart;
  task.maximum = maximum_.data() + index * group_;
  task.sum = sum_.data() + index * group_;
  task.out = partial_.data() + index * group_ * dim_;
  kernels::cpu_kernels().attend(task);
}

void StepAttention::attend(kernels::ThreadPool& pool, const float* queries, int64_t query_stride,
                           std::span<const AttendedRow> rows, float* out) {
  const auto count = static_cast<int64_t>(rows.size());
  int64_t longest = 1;
  for (const AttendedRow& row : rows) longest = std::max(longest, row.length);
  reserve(count, longest);
  const int64_t parts = parts_of(longest);
  // Rows innermost: those that share a source read its keys one after the other.
  pool.for_items(kv_heads_ * parts * count, [&](int64_t task) {
    const int64_t head = task / count / parts;
    const int64_t index = task % count;
    AttendedRow row = rows[static_cast<size_t>(index)];
    row.keys += head * row.head_stride;
    row.values += head * row.head_stride;
    attend_part(queries + index * query_stride + head * group_ * dim_, row, head * count + index,
                task / count % parts);
  });
  for (int64_t index = 0; index < count; ++index) {
    const int64_t own_parts = parts_of(rows[static_cast<size_t>(index)].length);
    for (int64_t head = 0; head < heads_; ++head) {
      const int64_t slot = head / group_ * count + index;
      const int64_t first = slot * parts_ * group_ + head % group_;
      merge_parts(maximum_.data() + first, sum_.data() + first, partial_.data() + first * dim_,
                  own_parts, group_, dim_, out + (index * heads_ + head) * dim_);
    }
  }
}

}  // namespace qfs::nn
