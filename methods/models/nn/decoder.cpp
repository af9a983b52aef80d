#include "methods/models/nn/decoder.h"

#include <stdexcept>
#include <utility>

#include "methods/models/nn/dense.h"

namespace qfs::nn {

at::Tensor LayerOperations::attend_source(size_t, const at::Tensor&) {
  throw std::logic_error("there is no source to attend to");
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

at::Tensor run_layers(const Decoder& decoder, at::Tensor stream, LayerOperations& run) {
  const auto layers = static_cast<size_t>(decoder.shape().layers);
  for (size_t i = 0; i < layers; ++i) stream = decoder.layer(i, stream, run);
  return stream;
}

}  // namespace qfs::nn
