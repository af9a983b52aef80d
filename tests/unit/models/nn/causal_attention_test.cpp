// Attention with gradients by the own kernels is what LibTorch's operations make of float64.
#include "methods/models/nn/causal_attention.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/function.h>

#include <string>
#include <utility>

namespace qfs::nn {
namespace {

constexpr int64_t kTokens = 53;
const DecoderShape kShape = {.heads = 4, .kv_heads = 2, .head_dim = 6};

/// Output and gradient of a sum of squares, of numbers in this type.
std::pair<at::Tensor, at::Tensor> attended(at::ScalarType type, bool rotated) {
  at::manual_seed(5);
  const at::Tensor drawn = at::randn({kTokens, 8 * kShape.head_dim}, at::kDouble);
  const at::Tensor qkv = drawn.to(type).set_requires_grad(true);
  Rotations at;
  if (rotated) {
    const Rotations made = make_rotations({}, kShape.head_dim, kTokens);
    at = {made.cosines.to(type), made.sines.to(type)};
  }
  const c10::AutoGradMode with_gradients(true);
  const at::Tensor out = causal_attention(qkv, kShape, at);
  {
    const c10::AutoGradMode without_gradients(false);
    const at::Tensor again = causal_attention(qkv.detach(), kShape, at, true);
    EXPECT_EQ(at::equal(again, out), true) << type;
    const bool own = out.grad_fn()->name().find("CausalAttention") != std::string::npos;
    EXPECT_EQ(own, type != at::kDouble);
  }
  out.square().sum().backward();
  EXPECT_EQ(out.scalar_type(), type);
  EXPECT_EQ(qkv.grad().scalar_type(), type);
  return {out.detach().to(at::kDouble), qkv.grad().to(at::kDouble)};
}

class CausalAttentionTest : public ::testing::TestWithParam<bool> {};

TEST_P(CausalAttentionTest, IsThatOfFloat64) {
  const auto [out, gradient] = attended(at::kDouble, GetParam());
  const auto near = [&](at::ScalarType type, double tolerance) {
    const auto [own, own_gradient] = attended(type, GetParam());
    EXPECT_LT((own - out).abs().max().item<double>(), tolerance) << type;
    EXPECT_LT((own_gradient - gradient).abs().max().item<double>(), 10 * tolerance) << type;
  };
  near(at::kFloat, 2e-6);
  near(at::kBFloat16, 2e-2);
}

INSTANTIATE_TEST_SUITE_P(Rotated, CausalAttentionTest, ::testing::Bool());

}  // namespace
}  // namespace qfs::nn
