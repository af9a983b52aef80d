#include "methods/models/architectures/bart/source_cache.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>

#include "methods/models/architectures/bart/bart_decoder.h"
#include "methods/models/nn/steps/key_value_cache.h"

namespace qfs::architectures {

void SourceCache::begin(size_t rows) { places_.assign(rows, kNone); }

void SourceCache::store(int64_t row, const at::Tensor& states) {
  const int64_t tokens = states.size(1);
  const int64_t place = make_room(row, tokens);
  for (size_t l = 0; l < weights_->layers.size(); ++l) {
    const at::Tensor both = cross_keys_values(*weights_, weights_->layers[l], states);
    const nn::LayerCache cache = layer(l);
    cache.keys.select(0, place).narrow(1, 0, tokens).copy_(both.select(0, 0));
    cache.values.select(0, place).narrow(1, 0, tokens).copy_(both.select(0, 1));
  }
  places_[static_cast<size_t>(row)] = place;
  lengths_[static_cast<size_t>(place)] = tokens;
}

void SourceCache::reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) {
  nn::reassign_values(rows, sources, places_);
}

nn::LayerCache SourceCache::layer(size_t index) const {
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
  const int64_t most = weights_->config.encoder.max_tokens();
  const int64_t rounded = std::min(nn::parts_of(tokens) * kernels::kDecodePart, most);
  grow(free < present ? present
                      : std::min<int64_t>(std::max<int64_t>(2 * present, 1),
                                          static_cast<int64_t>(places_.size())),
       fits ? capacity() : rounded);
  return free;
}

void SourceCache::grow(int64_t places, int64_t capacity) {
  before_move_();
  const BartConfig& c = weights_->config;
  const bool empty = std::ranges::all_of(places_, [](int64_t place) { return place == kNone; });
  if (empty) keys_ = values_ = at::Tensor();
  const auto enlarged = [&](const at::Tensor& old) {
    at::Tensor larger =
        at::empty({c.decoder_layers, places, c.decoder_heads, capacity, c.decoder_head_dim()},
                  weights_->token_embeddings.options());
    if (old.defined()) larger.narrow(1, 0, old.size(1)).narrow(3, 0, old.size(3)).copy_(old);
    return larger;
  };
  at::Tensor keys = enlarged(keys_);
  values_ = enlarged(values_);
  keys_ = keys;
  lengths_.resize(static_cast<size_t>(places), 0);
}

}  // namespace qfs::architectures
