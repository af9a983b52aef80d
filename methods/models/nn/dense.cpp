#include "methods/models/nn/dense.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class RmsNorm final : public torch::autograd::Function<RmsNorm> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            double eps) {
    const at::Tensor inverse =
        x.to(at::toOpMathType(x.scalar_type())).square().mean(-1, true).add_(eps).rsqrt_();
    context->save_for_backward({x, weight, inverse});
    return RmsNormed{x, weight, inverse}.product();
  }

  static variable_list backward(AutogradContext* context, variable_list upstream) {
    const variable_list kept = context->get_saved_variables();
    const at::Tensor& inverse = kept[2];
    const at::Tensor normed = kept[0] * inverse;
    at::Tensor gradient = upstream.front().to(inverse.scalar_type()) * kept[1];
    const at::Tensor along = (gradient * normed).mean(-1, true);
    gradient.addcmul_(normed, along, -1).mul_(inverse);
    return {gradient.to(kept[0].scalar_type()), {}, {}};
  }
};

/// In one pass by the kernels of a CPU, else by LibTorch's operations.
class GatedSilu final : public torch::autograd::Function<GatedSilu> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate_up) {
    context->save_for_backward({gate_up});
    if (!by_own_kernels(gate_up)) return at::silu(gate_of(gate_up)).mul_(up_of(gate_up));
    const int64_t width = gate_up.size(1) / 2;
    const at::Tensor out = at::empty({gate_up.size(0), width}, gate_up.options());
    const auto* const gates = gate_up.const_data_ptr<float>();
    auto* const to = out.mutable_data_ptr<float>();
    for_rows(out, [&](int64_t row) {
      const float* const gate = gates + row * 2 * width;
      kernels::cpu_kernels().silu_multiply(gate, gate + width, width, to + row * width);
    });
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list upstream) {
    const at::Tensor gate_up = context->get_saved_variables().front();
    const at::Tensor& above = upstream.front();
    const at::Tensor gradient = at::empty_like(gate_up);
    if (by_own_kernels(gate_up) && by_own_kernels(above)) {
      const int64_t width = above.size(1);
      const auto* const gates = gate_up.const_data_ptr<float>();
      const auto* const from = above.const_data_ptr<float>();
      auto* const to = gradient.mutable_data_ptr<float>();
      for_rows(above, [&](int64_t row) {
        const float* const gate = gates + row * 2 * width;
        float* const of_gate = to + row * 2 * width;
        kernels::cpu_kernels().silu_gradient(gate, gate + width, from + row * width, width, of_gate,
                                             of_gate + width);
      });
      return {gradient};
    }
    at::Tensor of_gate = gate_of(gradient);
    at::silu_backward_out(of_gate, above * up_of(gate_up), gate_of(gate_up));
    at::Tensor of_up = up_of(gradient);
    at::silu_out(of_up, gate_of(gate_up)).mul_(above);
    return {gradient};
  }

 private:
  static at::Tensor gate_of(const at::Tensor& both) { return both.narrow(1, 0, both.size(1) / 2); }
  static at::Tensor up_of(const at::Tensor& both) {
    return both.narrow(1, both.size(1) / 2, both.size(1) / 2);
  }
  static bool by_own_kernels(const at::Tensor& rows) {
    return rows.device().is_cpu() && rows.scalar_type() == at::kFloat && rows.is_contiguous();
  }
  template <class Body>
  static void for_rows(const at::Tensor& rows, const Body& body) {
    constexpr int64_t kTaskRows = 32;
    const int64_t count = rows.size(0);
    for_items((count + kTaskRows - 1) / kTaskRows, [&](int64_t task) {
      const int64_t end = std::min(count, (task + 1) * kTaskRows);
      for (int64_t row = task * kTaskRows; row < end; ++row) body(row);
    });
  }
};

}  // namespace

Result<Activation> activation_named(const std::string& name, const std::string& source) {
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name == "relu") return Activation::relu;
  return unavailable("'" + source + "' has the activation '" + name +
                     "'; this program computes gelu, gelu_new and relu here");
}

at::Tensor expanded(const Linear& linear, int64_t inputs) {
  const int64_t outputs = linear.weight.size(0);
  const at::Tensor rows = linear.weight.contiguous();
  const at::Tensor floats = at::empty({outputs, inputs});
  const auto* const from = rows.const_data_ptr<uint8_t>();
  auto* const to = floats.mutable_data_ptr<float>();
  const auto expand = kernels::cpu_kernels().expand;
  constexpr int64_t kTaskRows = 32;
  for_items((outputs + kTaskRows - 1) / kTaskRows, [&](int64_t task) {
    const int64_t first = task * kTaskRows;
    expand(*linear.packed, from + first * rows.size(1),
           std::min(kTaskRows, outputs - first) * inputs, to + first * inputs);
  });
  return floats;
}

Linear unpacked(const Linear& linear, int64_t inputs) {
  return linear.packed ? Linear{expanded(linear, inputs), linear.bias} : linear;
}

at::Tensor apply(const Linear& linear, const at::Tensor& x) {
  return at::linear(x, unpacked(linear, x.size(-1)).weight,
                    linear.bias.defined() ? std::optional(linear.bias) : std::nullopt);
}

at::Tensor apply(const LayerNorm& norm, const at::Tensor& x, double eps) {
  return at::layer_norm(x, {x.size(-1)}, norm.weight, norm.bias, eps);
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  if (weight.requires_grad() || !x.requires_grad()) {
    return at::rms_norm(x, {x.size(-1)}, weight, eps);
  }
  return RmsNorm::apply(x, weight, eps);
}

at::Tensor RmsNormed::product() const { return (x * inverse).mul_(weight).to(x.scalar_type()); }

std::optional<RmsNormed> rms_normed(const at::Tensor& normed) {
  auto* const node = dynamic_cast<torch::autograd::CppNode<RmsNorm>*>(normed.grad_fn().get());
  if (node == nullptr) return std::nullopt;
  const variable_list kept = node->ctx_.get_saved_variables();
  return RmsNormed{kept[0], kept[1], kept[2]};
}

at::Tensor gated_silu(const at::Tensor& gate_up) { return GatedSilu::apply(gate_up); }

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
