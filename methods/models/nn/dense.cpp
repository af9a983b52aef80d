#include "methods/models/nn/dense.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include <optional>

namespace qfs::nn {

Result<Activation> activation_named(const std::string& name, const std::string& source) {
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name == "relu") return Activation::relu;
  return unavailable("'" + source + "' has the activation '" + name +
                     "'; this program computes gelu, gelu_new and relu here");
}

at::Tensor apply(const Linear& linear, const at::Tensor& x) {
  return at::linear(x, linear.weight,
                    linear.bias.defined() ? std::optional(linear.bias) : std::nullopt);
}

at::Tensor apply(const LayerNorm& norm, const at::Tensor& x, double eps) {
  return at::layer_norm(x, {x.size(-1)}, norm.weight, norm.bias, eps);
}

at::Tensor apply(Activation activation, const at::Tensor& x) {
  switch (activation) {
    case Activation::gelu:
      return at::gelu(x);
    case Activation::gelu_tanh:
      return at::gelu(x, "tanh");
    case Activation::relu:
      return at::relu(x);
  }
  return x;
}

}  // namespace qfs::nn
