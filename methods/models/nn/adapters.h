// What is added to a model's layers without changing its weights: low-rank adapters, by which
// y = W x + b becomes y = W x + b + scale * B (A x) (Hu et al. 2021), on any linear layer or on the
// rows of a fused one that are a layer of the checkpoint, and adapters of whole layers
// (layer_adapters.h).
//
// Bound to a model's weights by SequenceModel::bind or to a decoder's by bind_adapters; rows of a
// model carry them (SequenceInput::adapters). Immutable; thread-safe. LibTorch's exceptions pass
// through but where a Result is returned.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/layer_adapters.h"

namespace qfs::nn {

struct LowRank {
  at::Tensor down;   ///< A: [rank, inputs]
  at::Tensor up;     ///< B: [outputs, rank]
  double scale = 1;  ///< alpha / rank
};

/// By the names of layers in checkpoints, without ".weight"; one part more in front, as a model
/// with a head has it ("transformer.h.0.attn.c_attn"), is understood.
using LowRankByName = std::map<std::string, LowRank>;

struct AdapterSet {
  LowRankByName linears;
  std::map<size_t, ParallelMlp> mlps;  ///< by layer, from 0
  std::map<size_t, PromptRows> prompts;
};

/// A matrix of a model that adapters may be added to.
struct AdapterTarget {
  const void* weight = nullptr;   ///< what Adapters::of is asked for
  std::vector<FusedPart> layers;  ///< of the checkpoint, below one another
  int64_t inputs = 0;
};

/// Where a model takes adapters.
struct AdapterPlaces {
  std::vector<AdapterTarget> linears;
  LayerWidths layers = {};
  /// As Decoder::keys_values.
  std::function<at::Tensor(size_t layer, const at::Tensor& rows)> keys_values;
  at::Device device = at::kCPU;
  at::ScalarType type = at::kFloat;
};

/// Leaves with the values of tensors that may be computed of others.
struct CutLeaves {
  std::vector<at::Tensor> outside;
  std::vector<at::Tensor> inside;  ///< the leaf of each
  std::unordered_map<const void*, size_t> places;
};

class Adapters {
 public:
  /// Some rows of a matrix's outputs.
  struct Rows {
    int64_t first = 0;
    int64_t count = 0;
    LowRank added;
  };

  /// Values are copied to the places' device and type, unless they are there; gradients reach them
  /// either way. `not_found` (with the nearest name) for a layer that the model does not have,
  /// `invalid_argument` for another shape than the layer's and for two names of one layer,
  /// `unavailable` for adapters of whole layers where an architecture takes none; `out_of_memory`.
  static Result<std::shared_ptr<const Adapters>> bind(const AdapterSet& set,
                                                      const AdapterPlaces& places);

  /// What is added to the outputs of a matrix; empty: nothing.
  std::span<const Rows> of(const void* weight) const;
  std::span<const Rows> of(const Linear& linear) const {
    return of(linear.weight.unsafeGetTensorImpl());
  }

  /// Those of a whole layer.
  const LayerAdapters& layer(size_t index) const;

  /// Those of its tensors that gradients reach.
  std::span<const at::Tensor> trained() const { return trained_; }
  /// The same with leaves in their place, which are found or added there.
  std::shared_ptr<const Adapters> cut_off(CutLeaves& leaves) const;

 private:
  Status bind_linears(const LowRankByName& by_name, const AdapterPlaces& places);
  Status bind_layers(const AdapterSet& set, const AdapterPlaces& places);
  /// A copy where a model computes, that gradients may reach.
  at::Tensor placed(const at::Tensor& values, const AdapterPlaces& places);

  std::unordered_map<const void*, std::vector<Rows>> by_weight_;
  std::map<size_t, LayerAdapters> by_layer_;
  std::vector<at::Tensor> trained_;
};

/// The linear layers among weights, which `visit` shows.
std::vector<AdapterTarget> adapter_targets(const std::function<void(WeightVisitor&)>& visit);
/// The linear layers of a decoder, of an encoder-decoder the encoder's too.
std::vector<AdapterTarget> adapter_targets(const Decoder& decoder);

/// Adapters for a decoder.
Result<std::shared_ptr<const Adapters>> bind_adapters(const AdapterSet& set,
                                                      const Decoder& decoder);

/// A layer's outputs for x [..., inputs] with what `adapters` (or null) add to them. `multiply` is
/// how products are computed.
template <class Multiply>
at::Tensor adapted(const Linear& linear, const at::Tensor& x, const Adapters* adapters,
                   const Multiply& multiply) {
  at::Tensor product = multiply(linear, x);
  if (adapters == nullptr) return product;
  for (const Adapters::Rows& rows : adapters->of(linear)) {
    const at::Tensor added = multiply(Linear{rows.added.up}, multiply(Linear{rows.added.down}, x));
    product.narrow(-1, rows.first, rows.count).add_(added, rows.added.scale);
  }
  return product;
}

/// The same by LibTorch's products, as training has it: gradients reach x, the adapters and a bias,
/// the weight being frozen, and keep x and A x.
at::Tensor adapted(const Linear& linear, const at::Tensor& x, const Adapters* adapters);

/// Products of rows that each have adapters of their own, `of_row(i)`: x [rows, inputs] to
/// [rows, outputs], `multiply` as for adapted.
template <class OfRow, class Multiply>
at::Tensor adapted_rows(const Linear& linear, const at::Tensor& x, size_t rows, const OfRow& of_row,
                        Multiply& multiply) {
  const auto product = [&](const Linear& layer, const at::Tensor& of) {
    return multiply(layer, of);
  };
  bool alike = true;
  for (size_t i = 1; i < rows; ++i) alike = alike && of_row(i) == of_row(0);
  if (alike) return adapted(linear, x, of_row(0), product);
  std::vector<at::Tensor> outputs;
  for (size_t i = 0; i < rows; ++i) {
    outputs.push_back(adapted(linear, x.narrow(0, static_cast<int64_t>(i), 1), of_row(i), product));
  }
  return at::cat(outputs);
}

}  // namespace qfs::nn
