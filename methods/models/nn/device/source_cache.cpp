#include "methods/models/nn/device/source_cache.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>

#include "methods/models/nn/steps/key_value_cache.h"

namespace qfs::nn {

void SourceCache::begin(size_t rows) { places_.assign(rows, kNone); }

void SourceCache::store(int64_t row, const at::Tensor& states, const Adapters* adapters) {
  const int64_t tokens = states.size(1);
  const int64_t place = make_room(row, tokens);
  for (size_t l = 0; l < static_cast<size_t>(decoder_->shape().layers); ++l) {
    const at::Tensor both = decoder_->source_keys_values(l, states, adapters);
    const LayerCache cache = layer(l);
    cache.keys.select(0, place).narrow(1, 0, tokens).copy_(both.select(0, 0));
    cache.values.select(0, place).narrow(1, 0, tokens).copy_(both.select(0, 1));
  }
  places_[static_cast<size_t>(row)] = place;
  lengths_[static_cast<size_t>(place)] = tokens;
}

void SourceCache::reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) {
  reassign_values(rows, sources, places_);
}

LayerCache SourceCache::layer(size_t index) const {
  return {keys_.select(0, static_cast<int64_t>(index)),
          values_.select(0, static_cast<int64_t>(index))};
}

bool SourceCache::held(int64_t place) const {
  return std::ranges::find(places_, place) != places_.end();
}

int64_t SourceCache::make_room(int64_t row, int64_t tokens) {
  places_[static_cast<size_t>(row)] = kNone;
  const auto present = static_cast<int64_t>(lengths_.size());
  int64_t free = 0;
  while (free < present && held(free)) ++free;
  const bool fits = keys_.defined() && tokens <= capacity();
  if (free < present && fits) return free;
  const int64_t most = decoder_->shape().sequence.source_context;
  const int64_t rounded = std::min(parts_of(tokens) * kernels::kDecodePart, most);
  grow(free < present ? present
                      : std::min<int64_t>(std::max<int64_t>(2 * present, 1),
                                          static_cast<int64_t>(places_.size())),
       fits ? capacity() : rounded);
  return free;
}

void SourceCache::grow(int64_t places, int64_t capacity) {
  before_move_();
  const DecoderShape& c = decoder_->shape();
  const bool empty = std::ranges::all_of(places_, [](int64_t place) { return place == kNone; });
  if (empty) keys_ = values_ = at::Tensor();
  const auto enlarged = [&](const at::Tensor& old) {
    at::Tensor larger = at::empty({c.layers, places, c.kv_heads, capacity, c.head_dim},
                                  at::TensorOptions(decoder_->type()).device(decoder_->device()));
    if (old.defined()) larger.narrow(1, 0, old.size(1)).narrow(3, 0, old.size(3)).copy_(old);
    return larger;
  };
  at::Tensor keys = enlarged(keys_);
  values_ = enlarged(values_);
  keys_ = keys;
  lengths_.resize(static_cast<size_t>(places), 0);
}

}  // namespace qfs::nn
