// Decoder: an architecture's decoder over tensors: its weights and the order of its layers, written
// once for every way of running them — whole sequences with gradients (sequences.h), steps over
// caches on a CPU (steps/step_model.h) and on a device (device/device_model.h).
//
// Implemented by architectures. Immutable; thread-safe. Rows are tokens. Reads no tensor back to
// the host, so that a device can record it; LibTorch's exceptions pass through but where a Result
// is returned.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/checkpoints/model_config.h"
#include "methods/models/nn/dropout.h"
#include "methods/models/nn/recompute.h"
#include "methods/models/nn/sequence_model.h"
#include "methods/models/nn/weights.h"

namespace qfs::nn {

/// What running a decoder takes to know.
struct DecoderShape {
  SequenceShape sequence;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;  ///< each is shared by heads / kv_heads queries (Ainslie et al. 2023)
  int64_t head_dim = 0;
  /// Queries and keys are rotated by it; without one, positions are learned.
  std::optional<checkpoints::RopeConfig> rope = {};
  /// Of the checkpoint's configuration, for training; of encoder-decoders, encoder included.
  DropoutRates dropout = {};

  int64_t query_width() const { return heads * head_dim; }
};

/// Some rows of the stream, with the adapters that they have, or null.
struct AdaptedRows {
  int64_t first = 0;
  int64_t count = 0;
  const Adapters* adapters = nullptr;
};

/// Each row by itself, so that it has the same bits in any batch; `adapters`: of all rows.
std::vector<AdaptedRows> by_themselves(std::span<const int64_t> rows,
                                       std::span<const std::shared_ptr<const Adapters>> adapters);

/// What differs between the ways of running layers.
class LayerOperations {
 public:
  virtual ~LayerOperations() = default;

  /// x [rows, inputs] to [rows, outputs].
  virtual at::Tensor multiply(const Linear& linear, const at::Tensor& x) = 0;
  /// Causal self-attention of x [rows, hidden] to [kept rows, heads * head_dim]; `qkv` makes
  /// queries, keys and values of it: [(heads + 2 kv_heads) head_dim, hidden], not rotated.
  virtual at::Tensor attend_past(size_t layer, const Linear& qkv, const at::Tensor& x) = 0;
  /// Cross-attention, of encoder-decoders; queries [rows, heads * head_dim] likewise.
  virtual at::Tensor attend_source(size_t layer, const at::Tensor& queries);
  /// Those rows of the stream that attend_past has kept: where only the last one is read from the
  /// last layer on, the others need not be computed.
  virtual at::Tensor kept(size_t /*layer*/, const at::Tensor& stream) { return stream; }
  /// What a block adds to the kept rows of the stream, with dropout where a row has it.
  virtual at::Tensor dropped(size_t /*layer*/, LayerBlock /*block*/, const at::Tensor& added) {
    return added;
  }
  /// What the second layer of the MLP reads, likewise.
  virtual at::Tensor dropped_activations(size_t /*layer*/, const at::Tensor& x) { return x; }
  /// silu(gate) * up of gate_up [rows, 2 width] (Shazeer 2020).
  virtual at::Tensor gated_silu(const at::Tensor& gate_up);

  /// A layer's MLP output [kept rows, hidden] with what adapters of the layer add to it; `read`:
  /// what the MLP reads, likewise.
  at::Tensor beside_mlp(size_t layer, const at::Tensor& output, const at::Tensor& read) const;

 protected:
  /// `adapted`: all rows in order, or one element for all of them, however many a layer has; empty:
  /// none has adapters.
  explicit LayerOperations(std::vector<AdaptedRows> adapted = {}) : adapted_(std::move(adapted)) {}

  /// Whether learned rows add to attention in this layer.
  bool has_prompt(size_t layer) const;
  /// Attention's output [rows, heads * head_dim] with what learned rows add to it; `queries`
  /// [rows, heads, head_dim] as they asked the text.
  at::Tensor beside_attention(size_t layer, const at::Tensor& output,
                              const at::Tensor& queries) const;

 private:
  std::vector<AdaptedRows> adapted_;
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual const DecoderShape& shape() const = 0;
  at::Device device() const { return head().weight.device(); }
  /// Of activations.
  virtual at::ScalarType type() const { return head().weight.scalar_type(); }
  virtual int64_t hidden() const { return head().weight.size(1); }

  /// The residual stream that enters layer 0: ids and positions of their sequences (int32 or int64
  /// [rows], on the weights' device) to [rows, hidden].
  virtual at::Tensor embed(const at::Tensor& ids, const at::Tensor& positions) const = 0;
  /// The same of rows [rows, hidden] that stand for tokens.
  virtual at::Tensor embed_rows(const at::Tensor& rows, const at::Tensor& positions) const;
  /// The stream that leaves a layer.
  virtual at::Tensor layer(size_t index, const at::Tensor& stream, LayerOperations& run) const = 0;
  /// What the head multiplies, of the stream that leaves the last layer.
  virtual at::Tensor last_states(const at::Tensor& stream) const = 0;
  virtual const Linear& head() const = 0;
  /// Shows every weight with its name; of an encoder-decoder the encoder's, too. Returns the same
  /// decoder over what the visitor assigned.
  virtual std::shared_ptr<const Decoder> visit(WeightVisitor& visitor) const = 0;
  /// Keys and values of rows [slots, hidden] that stand for what a layer's attention reads, without
  /// positions: [2, kv_heads, slots, head_dim]. Of decoders that have SequenceShape::widths.
  virtual at::Tensor keys_values(size_t layer, const at::Tensor& rows) const;
  /// What transformers puts before the names that `visit` shows: "model.", "transformer.".
  virtual std::string_view name_prefix() const { return ""; }

  /// The encoder's states of an input: [1, tokens, hidden]. Errors: those of the input, and
  /// `internal` for decoder-only models.
  virtual Result<at::Tensor> encode(const SequenceInput& input,
                                    Recompute recompute = Recompute::nothing) const;
  /// A layer's cross-attention keys and values of these states: [2, heads, tokens, head_dim].
  /// `adapters`: those of the input, or null.
  virtual at::Tensor source_keys_values(size_t layer, const at::Tensor& states,
                                        const Adapters* adapters) const;

  /// The same weights on a device in an element type, each rounded once. `out_of_memory`.
  virtual Result<std::shared_ptr<const Decoder>> copy_to(at::Device device,
                                                         at::ScalarType type) const = 0;
};

/// A decoder whose weights are a struct with a function visit_weights(weights, visitor), found by
/// argument-dependent lookup; `Self` is made of them.
template <class Self, class Weights>
class DecoderOf : public Decoder {
 public:
  std::shared_ptr<const Decoder> visit(WeightVisitor& visitor) const final {
    auto shown = std::make_shared<Weights>(*weights_);
    visit_weights(*shown, visitor);
    return std::make_shared<Self>(std::move(shown));
  }

  Result<std::shared_ptr<const Decoder>> copy_to(at::Device device,
                                                 at::ScalarType type) const final {
    std::shared_ptr<const Decoder> copy;
    const Status copied =
        copy_weights(device, type, [&](WeightVisitor& visitor) { copy = visit(visitor); });
    if (!copied.ok()) return copied.error();
    return copy;
  }

 protected:
  explicit DecoderOf(std::shared_ptr<const Weights> weights) : weights_(std::move(weights)) {}

  std::shared_ptr<const Weights> weights_;
};

/// What enters layer 0 of an input's tokens from `first` on, those in `embedded` being rows; ids
/// and positions as for Decoder::embed. Gradients pass to the rows.
at::Tensor entering(const Decoder& decoder, const at::Tensor& ids, const at::Tensor& positions,
                    std::span<const EmbeddedRows> embedded, int64_t first = 0);

/// All layers: the stream [kept rows, hidden] that leaves the last.
at::Tensor run_layers(const Decoder& decoder, at::Tensor stream, LayerOperations& run);

}  // namespace qfs::nn
