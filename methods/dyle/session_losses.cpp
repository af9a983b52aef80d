#include "methods/dyle/session_losses.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/xlogy.h>

#include <limits>
#include <string>

#include "methods/models/ranking/scorer_tensors.h"

namespace qfs::dyle {

namespace {

constexpr double kSmallestShare = 1e-5;

at::Tensor indices(std::span<const int64_t> list, at::Device device) {
  return at::tensor(at::ArrayRef<int64_t>(list.data(), list.size())).to(device);
}

}  // namespace

training::NamedTensors new_gate(int64_t width, uint64_t seed) {
  training::NamedTensors tensors;
  ranking::add_linear("rag.dynamic_mlp.0", width, width, seed, tensors);
  ranking::add_linear("rag.dynamic_mlp.2", width, width, seed, tensors);
  ranking::add_linear("rag.dynamic_mlp.4", 1, width, seed, tensors);
  return tensors;
}

at::Tensor gate_logits(const training::NamedTensors& gate, const at::Tensor& states) {
  const auto layer = [&](const at::Tensor& x, const std::string& name) {
    const std::string whole = "rag.dynamic_mlp." + name;
    return at::linear(x, gate.at(whole + ".weight"), gate.at(whole + ".bias"));
  };
  const at::Tensor& first = gate.begin()->second;
  const at::Tensor read = states.to(first.device(), first.scalar_type());
  return layer(at::relu(layer(at::relu(layer(read, "0")), "2")), "4").squeeze(-1);
}

at::Tensor log_prior(const at::Tensor& scores, const Selection& selection) {
  const std::span<const int64_t> all = selection.snippets;
  const auto own = all.first(all.size() - static_cast<size_t>(selection.copies));
  at::Tensor selected = scores.index_select(0, indices(own, scores.device()));
  if (selection.copies > 0) {
    const double none = -std::numeric_limits<double>::infinity();
    selected = at::cat({selected, at::full({selection.copies}, none, scores.options())});
  }
  return at::log_softmax(selected, 0);
}

at::Tensor mixed(const at::Tensor& log_probabilities, const at::Tensor& log_prior) {
  return at::logsumexp(log_probabilities + log_prior, 0);
}

at::Tensor consistency_loss(const at::Tensor& gate_logits, const at::Tensor& scores,
                            const Selection& selection) {
  const at::Tensor gate =
      at::softmax(gate_logits.detach().to(scores.device(), scores.scalar_type()), 0).mean(1);
  const at::Tensor clamped = log_prior(scores, selection).exp().clamp_min(kSmallestShare);
  const at::Tensor shares = clamped / clamped.sum();
  return (at::xlogy(gate, gate) - gate * shares.log()).sum();
}

}  // namespace qfs::dyle
