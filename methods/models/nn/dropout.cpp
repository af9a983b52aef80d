#include "methods/models/nn/dropout.h"

#include <ATen/ops/empty.h>

#include "harness/core/rng.h"
#include "methods/models/nn/drawn_dropout.h"

namespace qfs::nn {

at::Tensor dropped(const at::Tensor& x, double rate, Rng& rng) {
  const at::Tensor factors = at::empty(x.sizes(), at::kFloat);
  const auto kept = static_cast<float>(1 / (1 - rate));
  auto* const factor = factors.mutable_data_ptr<float>();
  for (int64_t i = 0; i < factors.numel(); ++i) factor[i] = rng.uniform() < rate ? 0.0F : kept;
  return x * factors.to(x.device(), x.scalar_type());
}

at::Tensor Dropout::apply(const at::Tensor& x, uint64_t place) const {
  if (rate == 0) return x;
  Rng rng = Rng::derived(stream, "dropout", place);
  return dropped(x, rate, rng);
}

Dropout Dropout::of_part(uint64_t part) const {
  return {rate, Rng::derived(stream, "part", part).next()};
}

uint64_t embedding_place(bool decoder) { return decoder ? 1 : 0; }

uint64_t block_place(bool decoder, size_t layer, LayerBlock block) {
  constexpr uint64_t kBlocks = 3;
  return 2 * (1 + kBlocks * layer + static_cast<uint64_t>(block)) + (decoder ? 1 : 0);
}

}  // namespace qfs::nn
