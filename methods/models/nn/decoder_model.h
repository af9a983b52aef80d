// DecoderModel: what models that continue sequences with a Decoder have in common; whatever they
// keep for their rows is their own.
//
// Derived from by steps/step_model.h, steps/segment_model.h and device/device_model.h. Contracts of
// SequenceModel.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <utility>

#include "methods/models/nn/adapters.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/sequence_model.h"
#include "methods/models/nn/sequences.h"

namespace qfs::nn {

class DecoderModel : public SequenceModel {
 public:
  const SequenceShape& shape() const final { return decoder_->shape().sequence; }
  Result<std::shared_ptr<const Adapters>> bind(const AdapterSet& set) const final {
    return bind_adapters(set, *decoder_);
  }
  /// Of a prompt that is read at once, without a memory.
  Result<at::Tensor> stream_before(size_t layer, const SequenceInput& input) final {
    const auto stream = nn::stream_before(*decoder_, input, layer);
    if (!stream.ok()) return stream;
    return guarded("copying a residual stream",
                   [&]() -> Result<at::Tensor> { return stream->to(at::kCPU, at::kFloat); });
  }
  Result<at::Tensor> last_states() const override {
    if (!last_states_.defined()) return invalid_argument("nothing has been read yet");
    return guarded("copying states",
                   [&]() -> Result<at::Tensor> { return last_states_.to(at::kCPU, at::kFloat); });
  }

 protected:
  explicit DecoderModel(std::shared_ptr<const Decoder> decoder) : decoder_(std::move(decoder)) {}

  std::shared_ptr<const Decoder> decoder_;
  at::Tensor last_states_;  ///< [rows, hidden], where the decoder is
};

}  // namespace qfs::nn
