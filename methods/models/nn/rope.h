// Rotary position embedding: the table of cosines and sines, with the ways of stretching it.
//
// Called by models. LibTorch's exceptions pass through (callers guard). Sources: Su et
// al. 2021 (RoPE); transformers 5.23, modeling_rope_utils.py, whose order of float32 operations is
// kept so that tables have its rounding: linear (positions over a factor), llama3 (long waves
// slowed down, LLaMA 3.1), yarn (Peng et al. 2023; cosines and sines scaled by its attention
// factor).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

#include "methods/models/checkpoints/model_config.h"

namespace qfs::nn {

struct Rotations {
  at::Tensor cosines;  ///< [positions, head_dim / 2], float32
  at::Tensor sines;    ///< likewise
};

/// `config.type`: default, linear, dynamic (its table below the original context, which is the
/// default one), llama3 or yarn; another one is a programming error.
Rotations make_rotations(const checkpoints::RopeConfig& config, int64_t head_dim,
                         int64_t positions);

/// Heads [tokens, heads, dim] rotated by those of their tokens, `at` [tokens, dim / 2] in the
/// heads' type: pairs (i, i + dim / 2), half-split layout. Gradients pass.
at::Tensor rotated(const at::Tensor& heads, const Rotations& at);

/// Rotations of as many positions as were asked for, which may be far fewer than a model allows.
/// Thread-compatible.
class RotationTable {
 public:
  RotationTable(checkpoints::RopeConfig config, int64_t head_dim, at::Device device = at::kCPU)
      : config_(std::move(config)), head_dim_(head_dim), device_(device) {}

  bool holds(int64_t positions) const {
    return rotations_.cosines.defined() && rotations_.cosines.size(0) >= positions;
  }
  /// Makes the table anew, and its memory moves, unless it holds that many.
  void cover(int64_t positions);
  const Rotations& rotations() const { return rotations_; }

 private:
  checkpoints::RopeConfig config_;
  int64_t head_dim_;
  at::Device device_;
  Rotations rotations_;
};

}  // namespace qfs::nn
