#include "methods/unlimiformer/session_index.h"

#include <ATen/ops/bmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::unlimiformer {

namespace {

/// Whether a score ranks above another one, NaN below all.
bool above(float a, float b) { return a > b || (std::isnan(b) && !std::isnan(a)); }

/// sum over the chosen of softmax(scores) * state, into `sum` [hidden].
void add_weighted(const float* scores, const std::vector<int64_t>& chosen, const float* states,
                  int64_t hidden, float* sum) {
  float largest = scores[chosen.front()];
  for (const int64_t i : chosen) largest = std::max(largest, scores[i]);
  double total = 0;
  for (const int64_t i : chosen) total += std::exp(static_cast<double>(scores[i] - largest));
  for (const int64_t i : chosen) {
    const auto weight =
        static_cast<float>(std::exp(static_cast<double>(scores[i] - largest)) / total);
    const float* const state = states + i * hidden;
    for (int64_t j = 0; j < hidden; ++j) sum[j] += weight * state[j];
  }
}

}  // namespace

HeadProjections head_projections(const nn::Linear& keys_values, int64_t heads,
                                 const nn::Adapters* adapters) {
  at::Tensor weight = keys_values.weight;
  if (adapters != nullptr && !adapters->of(keys_values).empty()) {
    weight = weight.clone();
    for (const nn::Adapters::Rows& rows : adapters->of(keys_values)) {
      weight.narrow(0, rows.first, rows.count)
          .add_(at::mm(rows.added.up, rows.added.down), rows.added.scale);
    }
  }
  const int64_t width = weight.size(0) / 2;
  const std::vector<int64_t> by_head = {heads, width / heads, weight.size(1)};
  const at::Tensor bias = keys_values.bias.defined() ? keys_values.bias.narrow(0, width, width)
                                                     : at::zeros({width}, weight.options());
  return {weight.narrow(0, 0, width).view(by_head), weight.narrow(0, width, width).view(by_head),
          bias.view({heads, width / heads})};
}

std::vector<int64_t> highest(const float* scores, int64_t count, int64_t k) {
  std::vector<int64_t> chosen;
  if (k >= count) {
    for (int64_t i = 0; i < count; ++i) chosen.push_back(i);
    return chosen;
  }
  std::vector<float> sorted(scores, scores + count);
  const auto last = sorted.begin() + k - 1;
  std::nth_element(sorted.begin(), last, sorted.end(), above);
  const float least = *last;
  int64_t ties =
      k - std::count_if(scores, scores + count, [&](float score) { return above(score, least); });
  chosen.reserve(static_cast<size_t>(k));
  for (int64_t i = 0; i < count; ++i) {
    if (above(scores[i], least) || (!above(least, scores[i]) && ties-- > 0)) chosen.push_back(i);
  }
  return chosen;
}

SourceIndex::SourceIndex(at::Tensor states, std::vector<HeadProjections> layers, int64_t retrieved)
    : states_(std::move(states)), layers_(std::move(layers)), retrieved_(retrieved) {}

at::Tensor SourceIndex::attend(size_t layer, const at::Tensor& queries) const {
  const HeadProjections& projections = layers_[layer];
  const int64_t heads = queries.size(0);
  const int64_t hidden = states_.size(1);
  const double scale = 1 / std::sqrt(static_cast<double>(queries.size(1)));
  const at::Tensor asking =
      at::bmm((queries * scale).unsqueeze(1), projections.keys).squeeze(1);  // [heads, hidden]
  const at::Tensor scores = at::mm(asking, states_.t()).contiguous();        // [heads, tokens]
  const at::Tensor sums = at::zeros({heads, hidden}, states_.options());
  const auto* const of_heads = scores.const_data_ptr<float>();
  const auto* const states = states_.const_data_ptr<float>();
  auto* const sum = sums.mutable_data_ptr<float>();
  nn::for_items(heads, [&](int64_t head) {
    const float* const own = of_heads + head * tokens();
    add_weighted(own, highest(own, tokens(), retrieved_), states, hidden, sum + head * hidden);
  });
  return at::bmm(projections.values, sums.unsqueeze(2)).squeeze(2) + projections.values_bias;
}

}  // namespace qfs::unlimiformer
