#include "methods/models/nn/decoder.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "methods/models/nn/adapters.h"
#include "methods/models/nn/dense.h"

namespace qfs::nn {

std::vector<AdaptedRows> by_themselves(std::span<const int64_t> rows,
                                       std::span<const std::shared_ptr<const Adapters>> adapters) {
  std::vector<AdaptedRows> adapted;
  for (const int64_t row : rows) {
    const auto first = static_cast<int64_t>(adapted.size());
    adapted.push_back({first, 1, adapters[static_cast<size_t>(row)].get()});
  }
  return adapted;
}

at::Tensor LayerOperations::attend_source(size_t, const at::Tensor&) {
  throw std::logic_error("there is no source to attend to");
}

namespace {

/// `output` with what `add` makes of those rows of `read` whose layer has adapters of a kind.
template <class Kind, class Add>
at::Tensor with_added(Kind LayerAdapters::*kind, size_t layer, std::span<const AdaptedRows> rows,
                      const at::Tensor& output, const at::Tensor& read, const Add& add) {
  const auto own = [&](const AdaptedRows& some) -> const Kind* {
    if (some.adapters == nullptr) return nullptr;
    const Kind& adapters = some.adapters->layer(layer).*kind;
    return adapters ? &adapters : nullptr;
  };
  if (std::ranges::none_of(rows, [&](const AdaptedRows& some) { return own(some) != nullptr; })) {
    return output;
  }
  if (rows.size() == 1) return output + add(**own(rows.front()), read);
  std::vector<at::Tensor> parts;
  for (const AdaptedRows& some : rows) {
    parts.push_back(output.narrow(0, some.first, some.count));
    const Kind* const adapters = own(some);
    if (adapters == nullptr) continue;
    parts.back() = parts.back() + add(**adapters, read.narrow(0, some.first, some.count));
  }
  return at::cat(parts);
}

}  // namespace

at::Tensor LayerOperations::beside_mlp(size_t layer, const at::Tensor& output,
                                       const at::Tensor& read) const {
  return with_added(
      &LayerAdapters::mlp, layer, adapted_, output, read,
      [](const ParallelMlp& mlp, const at::Tensor& rows) { return apply(mlp, rows); });
}

bool LayerOperations::has_prompt(size_t layer) const {
  return std::ranges::any_of(adapted_, [&](const AdaptedRows& some) {
    return some.adapters != nullptr && some.adapters->layer(layer).prompt;
  });
}

at::Tensor LayerOperations::beside_attention(size_t layer, const at::Tensor& output,
                                             const at::Tensor& queries) const {
  return with_added(&LayerAdapters::prompt, layer, adapted_, output, queries,
                    [](const PromptHeads& prompt, const at::Tensor& rows) {
                      return prompt_attention(rows, prompt);
                    });
}

at::Tensor LayerOperations::gated_silu(const at::Tensor& gate_up) {
  return nn::gated_silu(gate_up);
}

Result<at::Tensor> Decoder::encode(const SequenceInput&, Recompute) const {
  return internal_error("a decoder-only model has no encoder");
}

at::Tensor Decoder::source_keys_values(size_t, const at::Tensor&, const Adapters*) const {
  throw std::logic_error("a decoder-only model attends to no source");
}

at::Tensor Decoder::keys_values(size_t, const at::Tensor&) const {
  throw std::logic_error("this decoder's layers take no adapters");
}

at::Tensor Decoder::embed_rows(const at::Tensor& rows, const at::Tensor&) const { return rows; }

at::Tensor entering(const Decoder& decoder, const at::Tensor& ids, const at::Tensor& positions,
                    std::span<const EmbeddedRows> embedded, int64_t first) {
  const at::Tensor tokens = decoder.embed(ids, positions);
  std::vector<at::Tensor> parts;
  int64_t done = 0;
  for (const EmbeddedRows& some : embedded) {
    const int64_t begin = std::max(some.at - first, int64_t{0});
    const int64_t end = std::min(some.end() - first, ids.size(0));
    if (begin >= end) continue;
    parts.push_back(tokens.narrow(0, done, begin - done));
    const at::Tensor rows = some.rows.narrow(0, begin + first - some.at, end - begin);
    parts.push_back(
        decoder.embed_rows(rows.to(tokens.options()), positions.narrow(0, begin, end - begin)));
    done = end;
  }
  if (parts.empty()) return tokens;
  parts.push_back(tokens.narrow(0, done, ids.size(0) - done));
  return at::cat(parts);
}

at::Tensor run_layers(const Decoder& decoder, at::Tensor stream, LayerOperations& run) {
  const auto layers = static_cast<size_t>(decoder.shape().layers);
  for (size_t i = 0; i < layers; ++i) stream = decoder.layer(i, stream, run);
  return stream;
}

}  // namespace qfs::nn
