#include "methods/models/nn/recompute.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace qfs::nn {

namespace {

using torch::autograd::variable_list;

bool requires_gradients(const at::Tensor& tensor) { return tensor.requires_grad(); }

/// Gradients of a block's inputs, then of what it reads besides.
class RecomputedBlock final : public torch::autograd::Node {
 public:
  RecomputedBlock(Block block, std::span<const at::Tensor> inputs, variable_list besides)
      : block_(std::move(block)),
        inputs_(inputs.begin(), inputs.end()),
        besides_(std::move(besides)) {}

  variable_list apply(variable_list&& gradients) override {
    const c10::AutoGradMode with_gradients(true);
    variable_list inputs;
    variable_list wanted;
    for (const at::Tensor& input : inputs_) {
      // Apart from the graph that the block is a node of, which gradients go through once.
      inputs.push_back(input.detach());
      inputs.back().set_requires_grad(input.requires_grad());
      if (input.requires_grad()) wanted.push_back(inputs.back());
    }
    wanted.insert(wanted.end(), besides_.begin(), besides_.end());
    const at::Tensor output = block_(inputs);
    // A layer that nothing below it or in it is trained in.
    if (!output.requires_grad()) return variable_list(inputs_.size() + besides_.size());
    const variable_list found =
        torch::autograd::grad({output}, wanted, {gradients.front()}, /*retain_graph=*/std::nullopt,
                              /*create_graph=*/false, /*allow_unused=*/true);
    variable_list all;
    auto next = found.begin();
    for (const at::Tensor& input : inputs_) {
      all.push_back(input.requires_grad() ? *next++ : at::Tensor());
    }
    all.insert(all.end(), next, found.end());
    return all;
  }

  void release_variables() override {
    block_ = nullptr;
    inputs_.clear();
    besides_.clear();
  }

 private:
  Block block_;
  variable_list inputs_;
  variable_list besides_;
};

}  // namespace

at::Tensor run_block(Recompute recompute, std::span<const at::Tensor> inputs,
                     std::span<const at::Tensor> besides, Block block,
                     std::span<const at::Tensor> inside) {
  variable_list others;
  std::ranges::copy_if(besides, std::back_inserter(others), requires_gradients);
  const bool differentiable = c10::GradMode::is_enabled() &&
                              (!others.empty() || std::ranges::any_of(inputs, requires_gradients));
  if (recompute == Recompute::nothing || !differentiable) return block(inputs);
  at::Tensor output;
  {
    const c10::AutoGradMode without_gradients(false);
    output = block(inputs);
  }
  variable_list within;
  std::ranges::copy_if(inside.empty() ? besides : inside, std::back_inserter(within),
                       requires_gradients);
  variable_list all(inputs.begin(), inputs.end());
  all.insert(all.end(), others.begin(), others.end());
  // What LibTorch's own nodes are freed by.
  const std::shared_ptr<RecomputedBlock> node(
      new RecomputedBlock(std::move(block), inputs, std::move(within)),
      torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(all));
  torch::autograd::set_history(output, node);
  return output;
}

}  // namespace qfs::nn
