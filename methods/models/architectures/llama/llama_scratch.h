// Scratch memory of the forward pass, kept between steps so that decoding allocates nothing.
//
// Private to llama.cpp and llama_prefill.cpp. Plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "methods/models/architectures/llama/llama.h"
#include "methods/models/kernels/thread_pool.h"
#include "methods/models/nn/rope.h"
#include "methods/models/nn/steps/step_attention.h"

namespace qfs::architectures {

struct Llama::Scratch {
  Scratch(const LlamaConfig& config, int threads)
      : pool(threads),
        step(config.heads, config.kv_heads, config.head_dim),
        rotations(config.rope, config.head_dim) {}

  kernels::ThreadPool pool;
  nn::StepAttention step;
  nn::RotationTable rotations;
  std::vector<const nn::Adapters*> adapters;  ///< of each row of the step, or null
  std::vector<float> low_rank;                ///< A x of one row
  std::vector<nn::AttendedRow> attended;
  bool bfloat16_products = false;  ///< see PrefillGemm
  int64_t rows = 0;
  int64_t headed_rows = 0;        ///< whose states, normalized for the head, `normed` holds
  std::vector<float> hidden;      ///< [rows, hidden], the residual stream
  std::vector<float> normed;      ///< [rows, hidden]
  std::vector<float> qkv;         ///< [rows, query_width + 2 kv_width]
  std::vector<float> queries;     ///< [rows, query_width], rotated
  std::vector<float> attention;   ///< [rows, query_width]
  std::vector<float> gate_up;     ///< [rows, 2 intermediate]
  std::vector<float> activation;  ///< [rows, intermediate]
};

}  // namespace qfs::architectures
