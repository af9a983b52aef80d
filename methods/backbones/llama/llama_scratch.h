// Scratch memory of the forward pass, kept between steps so that decoding allocates nothing.
//
// Private to llama.cpp and llama_prefill.cpp. Plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "methods/backbones/llama/llama.h"
#include "methods/kernels/thread_pool.h"

namespace qfs::backbones {

/// Positions that one task of decode attention reads: fixed, so that sums do not depend on threads.
inline constexpr int64_t kAttentionPart = 256;

struct Llama::Scratch {
  explicit Scratch(int threads) : pool(threads) {}

  kernels::ThreadPool pool;
  int64_t rows = 0;
  int64_t parts = 0;              ///< attention parts that the buffers below hold per row
  std::vector<float> hidden;      ///< [rows, hidden], the residual stream
  std::vector<float> normed;      ///< [rows, hidden]
  std::vector<float> qkv;         ///< [rows, query_width + 2 kv_width]
  std::vector<float> queries;     ///< [rows, query_width], rotated
  std::vector<float> attention;   ///< [rows, query_width]
  std::vector<float> gate_up;     ///< [rows, 2 intermediate]
  std::vector<float> activation;  ///< [rows, intermediate]
  // Per (row, key head, part): see kernels::AttentionPart.
  std::vector<float> scores;   ///< [rows, kv_heads, parts, kAttentionPart]
  std::vector<float> maximum;  ///< [rows, kv_heads, parts, group]
  std::vector<float> sum;      ///< likewise
  std::vector<float> partial;  ///< [rows, kv_heads, parts, group, head_dim]
};

}  // namespace qfs::backbones
