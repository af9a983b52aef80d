// Linear layers, layer normalization and activations as LibTorch computes them: what encoders
// and decoders of the BERT and BART kinds are made of.
//
// Used by architectures; callers guard against LibTorch's exceptions. Plain structs and pure
// functions; thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "harness/api/result.h"

namespace qfs::nn {

/// [outputs, inputs] and [outputs].
struct Linear {
  at::Tensor weight;
  at::Tensor bias = {};  ///< undefined: there is none
};

/// [hidden] each.
struct LayerNorm {
  at::Tensor weight;
  at::Tensor bias;
};

enum class Activation {
  gelu,       ///< x Phi(x), by the error function
  gelu_tanh,  ///< its approximation by tanh ("gelu_new", "gelu_pytorch_tanh")
  relu,
};

/// By its name in config.json, whose path is `source`. `unavailable` for others.
Result<Activation> activation_named(const std::string& name, const std::string& source);

/// x [..., inputs] to [..., outputs].
at::Tensor apply(const Linear& linear, const at::Tensor& x);
at::Tensor apply(const LayerNorm& norm, const at::Tensor& x, double eps);
at::Tensor apply(Activation activation, const at::Tensor& x);

}  // namespace qfs::nn
