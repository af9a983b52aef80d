// Losses and gradients of a head whose logits are computed in parts, against LibTorch's of all.
#include "methods/models/nn/token_loss.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/variable.h>

#include <vector>

namespace qfs::nn {
namespace {

const std::vector<int64_t> kLabels = {2, kNoLabel, 0, 4, 4};

struct Leaves {
  at::Tensor states;
  Linear head;
};

/// Five positions, seven words.
Leaves leaves(bool trains_head) {
  at::manual_seed(3);
  const auto leaf = [](at::IntArrayRef shape, bool trained) {
    return at::randn(shape, at::kDouble).requires_grad_(trained);
  };
  at::Tensor states = leaf({5, 3}, true);
  at::Tensor weight = leaf({7, 3}, trains_head);
  return {states, {weight, leaf({7}, trains_head)}};
}

TEST(TokenLoss, smoothing_is_torchs_in_chunks_of_any_size) {
  for (const bool trains_head : {false, true}) {
    for (const double smoothing : {0.0, 0.1, 0.9}) {
      for (const int64_t chunk_bytes : {int64_t{1}, int64_t{2} * 7 * 4, int64_t{1} << 20}) {
        SCOPED_TRACE(testing::Message() << trains_head << " " << smoothing << " " << chunk_bytes);
        const Leaves ours = leaves(trains_head);
        const auto loss = summed_token_loss(ours.head, ours.states, kLabels,
                                            {.smoothing = smoothing, .chunk_bytes = chunk_bytes});
        ASSERT_TRUE(loss.ok()) << loss.error().to_string();
        (*loss * 0.5).backward();
        const Leaves plain = leaves(trains_head);
        const at::Tensor expected = at::cross_entropy_loss(
            at::linear(plain.states, plain.head.weight, plain.head.bias), at::tensor(kLabels), {},
            at::Reduction::Sum, kNoLabel, smoothing);
        (expected * 0.5).backward();
        EXPECT_NEAR(loss->item<double>(), expected.item<double>(), 1e-12);
        EXPECT_TRUE(at::allclose(ours.states.grad(), plain.states.grad(), 1e-10, 1e-12));
        if (!trains_head) continue;
        EXPECT_TRUE(at::allclose(ours.head.weight.grad(), plain.head.weight.grad(), 1e-10, 1e-12));
        EXPECT_TRUE(at::allclose(ours.head.bias.grad(), plain.head.bias.grad(), 1e-10, 1e-12));
      }
    }
  }
}

}  // namespace
}  // namespace qfs::nn
