#include "methods/models/nn/device/decoder_network.h"

#include <utility>

#include "methods/models/kernels/cpu_kernels.h"
#include "methods/models/kernels/device_loader.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/steps/step_model.h"

namespace qfs::nn {

using Opened = Result<std::unique_ptr<SequenceModel>>;

using Copied = Result<std::shared_ptr<const Decoder>>;

namespace {

Copied shared_copy(const RuntimeOptions& runtime, const std::string& digest, ResourceCache& cache,
                   const CopyWeights& copy) {
  const auto type = element_type_named(runtime.dtype);
  if (!type.ok()) return type.error();
  const bool on_cpu = runtime.device == "cpu";
  if (!on_cpu) {
    if (const auto plugin = kernels::device_plugin(); !plugin.ok()) return plugin.error();
  }
  return cache.get<Decoder>("weights:" + digest + ":" + runtime.device + ":" + runtime.dtype, [&] {
    return copy(on_cpu ? at::Device(at::kCPU) : at::Device(at::kCUDA, 0), *type);
  });
}

}  // namespace

Copied sequence_copy(const RuntimeOptions& runtime, const std::string& digest, ResourceCache& cache,
                     const CopyWeights& copy) {
  const bool widened =
      runtime.device == "cpu" && runtime.dtype == "bfloat16" && !kernels::has_bfloat16_products();
  if (!widened) return shared_copy(runtime, digest, cache, copy);
  return cache.get<Decoder>("weights:" + digest + ":cpu:bfloat16 as float32", [&]() -> Copied {
    auto rounded = copy(at::kCPU, at::kBFloat16);
    if (!rounded.ok()) return rounded;
    return (*rounded)->copy_to(at::kCPU, at::kFloat);
  });
}

Opened open_copy(const RuntimeOptions& runtime, const std::string& digest, ResourceCache& cache,
                 const CopyWeights& copy) {
  auto decoder = shared_copy(runtime, digest, cache, copy);
  if (!decoder.ok()) return decoder.error();
  if (runtime.device == "cpu") return Opened(std::make_unique<StepModel>(*std::move(decoder)));
  const auto plugin = kernels::device_plugin();
  if (!plugin.ok()) return plugin.error();
  const auto proven = proven_device_kernels();
  if (!proven.ok()) return proven.error();
  return Opened(std::make_unique<DeviceModel>(
      *std::move(decoder), plugin_services(**plugin, (*proven)->kernels, decode_graphs_wanted())));
}

Copied DecoderNetwork::decoder(const RuntimeOptions& runtime, const std::string& digest,
                               ResourceCache& cache) const {
  if (runtime.device == "cpu" && runtime.dtype == "float32") return decoder_;
  return sequence_copy(
      runtime, digest + variant_, cache,
      [&](at::Device device, at::ScalarType type) { return decoder_->copy_to(device, type); });
}

Opened DecoderNetwork::open(const RuntimeOptions& runtime, const std::string& digest,
                            ResourceCache& cache) const {
  if (runtime.device == "cpu" && runtime.dtype == "float32") {
    return Opened(std::make_unique<StepModel>(decoder_));
  }
  return open_copy(runtime, digest + variant_, cache, [&](at::Device device, at::ScalarType type) {
    return decoder_->copy_to(device, type);
  });
}

}  // namespace qfs::nn
