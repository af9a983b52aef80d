#include "methods/models/nn/dropout.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <limits>
#include <string_view>

#include "harness/core/rng.h"
#include "methods/models/nn/drawn_dropout.h"

namespace qfs::nn {

namespace {

at::Tensor dropped_at(const at::Tensor& x, double rate, uint64_t stream, std::string_view kind,
                      uint64_t place) {
  if (rate == 0) return x;
  Rng rng = Rng::derived(stream, kind, place);
  return dropped(x, rate, rng);
}

}  // namespace

at::Tensor dropped(const at::Tensor& x, double rate, Rng& rng) {
  const at::Tensor factors = at::empty(x.sizes(), at::kFloat);
  const auto kept = static_cast<float>(1 / (1 - rate));
  auto* const factor = factors.mutable_data_ptr<float>();
  for (int64_t i = 0; i < factors.numel(); ++i) factor[i] = rng.uniform() < rate ? 0.0F : kept;
  return x * factors.to(x.device(), x.scalar_type());
}

at::Tensor Dropout::of_residual(const at::Tensor& x, uint64_t place) const {
  return dropped_at(x, rates.residual, stream, "dropout", place);
}

at::Tensor Dropout::of_attention(const at::Tensor& weights, uint64_t place) const {
  return dropped_at(weights, rates.attention, stream, "dropout.attention", place);
}

at::Tensor Dropout::of_activation(const at::Tensor& x, uint64_t place) const {
  return dropped_at(x, rates.activation, stream, "dropout.activation", place);
}

Dropout Dropout::of_part(uint64_t part) const {
  return {rates, Rng::derived(stream, "part", part).next()};
}

uint64_t embedding_place(bool decoder) { return decoder ? 1 : 0; }

uint64_t block_place(bool decoder, size_t layer, LayerBlock block) {
  constexpr uint64_t kBlocks = 3;
  return 2 * (1 + kBlocks * layer + static_cast<uint64_t>(block)) + (decoder ? 1 : 0);
}

at::Tensor attention(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                     const KeysSeen& seen, const Dropout* dropout, uint64_t place) {
  if (!drops_attention(dropout)) {
    return at::scaled_dot_product_attention(queries, keys, values, seen.mask, 0.0, seen.causal);
  }
  const double scale = 1 / std::sqrt(static_cast<double>(queries.size(-1)));
  at::Tensor scores = at::matmul(queries * scale, keys.transpose(-2, -1));
  const auto hide = [&](const at::Tensor& shown) {
    scores = scores.masked_fill(shown.logical_not(), -std::numeric_limits<double>::infinity());
  };
  if (seen.mask) hide(*seen.mask);
  if (seen.causal) {
    hide(at::ones({scores.size(-2), scores.size(-1)}, scores.options().dtype(at::kBool)).tril());
  }
  const at::Tensor weights = scores.softmax(-1, c10::promoteTypes(scores.scalar_type(), at::kFloat))
                                 .to(values.scalar_type());
  return at::matmul(dropout->of_attention(weights, place), values);
}

}  // namespace qfs::nn
