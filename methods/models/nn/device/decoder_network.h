// Decoders over tensors as Networks, on any device.
//
// Used by architectures. Networks are immutable and thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "methods/models/nn/decoder.h"
#include "methods/models/nn/network.h"

namespace qfs::nn {

/// Weights as they are run: on a device in an element type.
using CopyWeights =
    std::function<Result<std::shared_ptr<const Decoder>>(at::Device device, at::ScalarType type)>;

/// A copy of weights on the device of `runtime`, for whole sequences, which `cache` shares under
/// `digest`. bfloat16 on a CPU without such products, for which LibTorch has plain loops only: the
/// rounded weights as float32, in which all is computed. `unavailable`: no plug-in; errors of
/// `copy`.
Result<std::shared_ptr<const Decoder>> sequence_copy(const RuntimeOptions& runtime,
                                                     const std::string& digest,
                                                     ResourceCache& cache, const CopyWeights& copy);

/// A model over a copy in the type of `runtime`, shared likewise. The same errors.
Result<std::unique_ptr<SequenceModel>> open_copy(const RuntimeOptions& runtime,
                                                 const std::string& digest, ResourceCache& cache,
                                                 const CopyWeights& copy);

/// Base of networks that are a decoder and the numbers of its work.
class DecoderNetwork : public Network {
 public:
  const SequenceShape& shape() const override { return decoder_->shape().sequence; }
  Result<std::unique_ptr<SequenceModel>> open(const RuntimeOptions& runtime,
                                              const std::string& digest,
                                              ResourceCache& cache) const override;
  Result<std::shared_ptr<const Decoder>> decoder(const RuntimeOptions& runtime,
                                                 const std::string& digest,
                                                 ResourceCache& cache) const override;

 protected:
  /// `decoder`: float32 on the CPU. `variant` tells copies of its weights from those of the
  /// checkpoint as it is.
  explicit DecoderNetwork(std::shared_ptr<const Decoder> decoder, std::string variant = "")
      : decoder_(std::move(decoder)), variant_(std::move(variant)) {}

 private:
  std::shared_ptr<const Decoder> decoder_;
  std::string variant_;
};

}  // namespace qfs::nn
