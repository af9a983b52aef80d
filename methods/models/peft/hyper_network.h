// The hypernetwork of IDEAL: adapters of a backbone's last layers, made of what the layers below
// them read of a prompt. Attention is causal, so that what is pooled needs the prompt up to the
// pooled tokens alone, and what is made of it are ordinary adapters of a row.
//
// Called by sessions, to train and to write. Not thread-safe where the model is not. LibTorch's
// exceptions come out as Errors. Source: Cao et al. 2024, section 3; its release.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "harness/core/rng.h"
#include "methods/models/nn/sequence_model.h"
#include "methods/models/peft/layer_adapter.h"

namespace qfs::peft {

/// The model that rows are given adapters for.
struct AdaptedModel {
  std::function<Result<std::shared_ptr<const nn::Adapters>>(const nn::AdapterSet&)> bind;
  /// The stream [tokens, hidden] that enters a layer, of an input with its adapters.
  std::function<Result<at::Tensor>(size_t layer, const nn::SequenceInput&)> stream;
};

/// What the hypernetwork reads of an input: its tokens up to the last one that is pooled, without
/// adapters. Rows with equal ones are given equal adapters. `invalid_argument`: it is not known
/// where the prompt shows its query, or its document.
Result<nn::SequenceInput> pooled_prefix(const nn::SequenceInput& input, Pooling pooling);

/// The mean of the pooled tokens' rows of a stream, float32: [width of the hypernetwork].
at::Tensor pooled(const at::Tensor& stream, const nn::SequenceInput& input, Pooling pooling);

/// What the decoders make for the `index`-th generated layer of pooled states: by decoder, in the
/// shapes of generated_parts. `drop`: dropout of 5 % on what the encoder reads and gives, drawn
/// from there; none: not in training.
NamedTensors generate(const LayerAdapter& adapter, const at::Tensor& states, int64_t index,
                      std::optional<Rng> drop = {});

/// The adapters of a row that begins with `prefix`, of its generated layers what is made of it.
/// `made` is told what was generated, layer by layer. Errors: those of the model.
Result<std::shared_ptr<const nn::Adapters>> row_adapters(
    const LayerAdapter& adapter, const nn::SequenceInput& prefix, const AdaptedModel& model,
    std::optional<Rng> drop = {}, const std::function<void(const NamedTensors&)>& made = {});

}  // namespace qfs::peft
