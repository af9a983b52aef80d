#include "methods/compressors/session_held_tokens.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include "methods/models/nn/causal_attention.h"

namespace qfs::compressors {

at::Tensor HeldTokens::read(std::span<const int32_t> ids) {
  const auto count = static_cast<int64_t>(ids.size());
  const at::Tensor places = at::arange(held_, held_ + count);
  rotations_ = nn::rotations_of(decoder_, places);
  const at::Tensor stream =
      decoder_.embed(at::tensor(ids).to(decoder_.device()), places.to(decoder_.device()));
  const at::Tensor states = decoder_.last_states(nn::run_layers(decoder_, stream, *this));
  held_ += count;
  return states;
}

void HeldTokens::forget(int64_t first, int64_t count) {
  held_ -= count;
  for (Layer& layer : layers_) {
    for (at::Tensor* states : {&layer.keys, &layer.values}) {
      *states =
          at::cat({states->narrow(0, 0, first), states->narrow(0, first + count, held_ - first)});
    }
  }
}

at::Tensor HeldTokens::multiply(const nn::Linear& linear, const at::Tensor& x) {
  return nn::apply(linear, x);
}

at::Tensor HeldTokens::attend_past(size_t layer, const nn::Linear& qkv, const at::Tensor& x) {
  const nn::Projections own = nn::projections_of(multiply(qkv, x), decoder_.shape(), rotations_);
  Layer& all = layers_[layer];
  all = held_ == 0 ? Layer{own.keys, own.values}
                   : Layer{at::cat({all.keys, own.keys}), at::cat({all.values, own.values})};
  return nn::causal_attention({own.queries, all.keys, all.values});
}

}  // namespace qfs::compressors
