// StepAttention: attention of the new tokens of a decoding step over what their rows hold, on a CPU
// in float32.
//
// Used by decoders. Keys are read in parts of fixed size that are merged by their maxima and sums
// (Dao et al. 2023, Flash-Decoding), so a row's result is the same bits in any batch and with any
// number of threads. Keeps its scratch memory between steps: one caller at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "methods/models/kernels/thread_pool.h"

namespace qfs::nn {

/// What one row of queries attends to: positions 0 .. length of every key head.
struct AttendedRow {
  const float* keys = nullptr;  ///< [kv_heads, positions, dim], heads `head_stride` floats apart
  const float* values = nullptr;
  int64_t length = 0;  ///< at least 1
  int64_t head_stride = 0;
};

class StepAttention {
 public:
  /// `heads` is a multiple of `kv_heads`: consecutive queries share a key head (Ainslie et al.
  /// 2023).
  StepAttention(int64_t heads, int64_t kv_heads, int64_t dim);

  /// Memory for `rows` rows of up to `length` positions; what is there stays.
  void reserve(int64_t rows, int64_t length);

  /// queries and out: [rows, heads, dim], query rows `query_stride` floats apart, without gaps in
  /// `out`; scores are divided by the square root of dim. Rows beside one another that share their
  /// keys read them from the nearest cache.
  void attend(kernels::ThreadPool& pool, const float* queries, int64_t query_stride,
              std::span<const AttendedRow> rows, float* out);

 private:
  void attend_part(const float* queries, const AttendedRow& row, int64_t slot, int64_t part);

  int64_t heads_;
  int64_t kv_heads_;
  int64_t dim_;
  int64_t group_;
  int64_t rows_ = 0;
  int64_t parts_ = 0;  ///< that the buffers below hold for a row
  // Per (key head, row, part): see kernels::AttentionPart.
  std::vector<float> scores_;   ///< [kv_heads, rows, parts, kPart]
  std::vector<float> maximum_;  ///< [kv_heads, rows, parts, group]
  std::vector<float> sum_;      ///< likewise
  std::vector<float> partial_;  ///< [kv_heads, rows, parts, group, dim]
};

}  // namespace qfs::nn
