// Linear layers, normalization and activations as LibTorch computes them: what encoders and
// decoders over tensors are made of.
//
// Used by architectures; callers guard against LibTorch's exceptions. Plain structs and pure
// functions; thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "harness/api/result.h"
#include "methods/models/checkpoints/tensor_types.h"

namespace qfs::nn {

/// [outputs, inputs] and [outputs].
struct Linear {
  at::Tensor weight;
  at::Tensor bias = {};  ///< undefined: there is none
  /// How a checkpoint packs rows, where the weight is its bytes, [outputs, bytes of a row], on a
  /// CPU: it takes no gradients, and what it computes is float32.
  std::optional<checkpoints::TensorType> packed = {};
};

/// A packed weight in float32, [outputs, inputs]; takes a turn of nn::for_items.
at::Tensor expanded(const Linear& linear, int64_t inputs);
/// The layer over float32, where it is packed: for whoever uses it more than once.
Linear unpacked(const Linear& linear, int64_t inputs);

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

// These two keep less for the backward pass than LibTorch's operations of the same formulas.

/// x / sqrt(mean(x^2) + eps) * weight over the last dimension (Zhang & Sennrich 2019). Keeps x and
/// a number a row, unless gradients are to reach the weight.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);
/// What rms_norm made `normed` of, whose values are product() again: whoever would keep the one for
/// the backward pass keeps the other, which is kept anyway. Nothing where gradients do not go
/// through rms_norm.
struct RmsNormed {
  at::Tensor x;
  at::Tensor weight;
  at::Tensor inverse;  ///< 1 / sqrt(mean(x^2) + eps), of each row

  at::Tensor product() const;
};
std::optional<RmsNormed> rms_normed(const at::Tensor& normed);
/// silu(gate) * up of gate_up [rows, 2 width] to [rows, width] (Shazeer 2020). Keeps gate_up.
at::Tensor gated_silu(const at::Tensor& gate_up);

}  // namespace qfs::nn
