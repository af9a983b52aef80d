// TransformerEncoder: hidden states of BERT, RoBERTa, DistilBERT and the encoders of BART and LED.
//
// Called by BERTScore's host side, encoder-decoders and tests. Texts are lists of ids with the
// special tokens that the model wants. One text at a time gives values that no batch can change; a
// padded batch gives them to rounding. LibTorch's exceptions come out as Errors. Sources: Devlin et
// al. 2019 (layers that normalize after the residual sum); transformers 5.23 for positions, scales
// and activations.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "harness/api/result.h"
#include "methods/models/architectures/bert/encoder_weights.h"
#include "methods/models/nn/adapters.h"
#include "methods/models/nn/dropout.h"
#include "methods/models/nn/recompute.h"
#include "methods/models/nn/windowed/layer_attention.h"

namespace qfs::architectures {

struct EncoderInput {
  std::vector<int32_t> ids;
  std::vector<int32_t> segments;  ///< as long as ids, or empty: all 0
};

class TransformerEncoder {
 public:
  /// `adapters` are added to all texts, `dropout` falls on all; null: none.
  explicit TransformerEncoder(std::shared_ptr<const EncoderWeights> weights,
                              std::shared_ptr<const nn::Adapters> adapters = nullptr,
                              nn::Recompute recompute = nn::Recompute::nothing,
                              std::shared_ptr<const nn::Dropout> dropout = nullptr)
      : weights_(std::move(weights)),
        adapters_(std::move(adapters)),
        recompute_(recompute),
        dropout_(std::move(dropout)) {}

  const EncoderConfig& config() const { return weights_->config; }

  /// The states after `layers` layers (0: the embeddings): [texts, longest, hidden], whose rows
  /// beyond a shorter text hold nothing of use. `invalid_argument`: no texts, an empty one, one
  /// over max_tokens(), an unknown id or segment, more layers than there are.
  Result<at::Tensor> hidden_states(std::span<const EncoderInput> texts, int64_t layers) const;
  /// All layers of one text with another attention: [1, tokens, hidden].
  Result<at::Tensor> hidden_states(const EncoderInput& text,
                                   std::shared_ptr<const nn::LayerAttention> attention) const;

 private:
  /// What a layer's attention makes of its index, what it reads, and projections of that.
  using Attend = std::function<at::Tensor(int64_t, const at::Tensor&, const at::Tensor&)>;

  /// `layers` layers; `attend` may be called after this has returned. `trained`: what gradients
  /// reach through it.
  at::Tensor run_layers(at::Tensor states, int64_t layers, const Attend& attend,
                        std::vector<at::Tensor> trained) const;
  Status check(const EncoderInput& text) const;
  at::Tensor embed(std::span<const EncoderInput> texts, int64_t longest) const;
  /// What a layer's attention reads of the residual states.
  at::Tensor read_by(const EncoderLayer& layer, const at::Tensor& states) const;
  /// The states after all layers, normalized where the layers did not.
  at::Tensor last(const at::Tensor& states) const;
  /// [3, texts, heads, length, head_dim]
  at::Tensor project(const EncoderLayer& layer, const at::Tensor& read) const;
  /// What follows attention; `attended` [texts, heads, length, head_dim].
  at::Tensor finish_layer(size_t index, const at::Tensor& states, const at::Tensor& attended) const;

  at::Tensor multiply(const nn::Linear& linear, const at::Tensor& x) const {
    return nn::adapted(linear, x, adapters_.get());
  }
  at::Tensor dropped(const at::Tensor& x, uint64_t place) const {
    return dropout_ == nullptr ? x : dropout_->of_residual(x, place);
  }

  std::shared_ptr<const EncoderWeights> weights_;
  std::shared_ptr<const nn::Adapters> adapters_;
  nn::Recompute recompute_;
  std::shared_ptr<const nn::Dropout> dropout_;
};

}  // namespace qfs::architectures
