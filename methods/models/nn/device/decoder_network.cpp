#include "methods/models/nn/device/decoder_network.h"

#include <utility>

#include "methods/models/kernels/device_loader.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/steps/step_model.h"

namespace qfs::nn {

using Opened = Result<std::unique_ptr<SequenceModel>>;

Opened open_copy(const RuntimeOptions& runtime, const std::string& digest, ResourceCache& cache,
                 const CopyWeights& copy) {
  const auto type = element_type_named(runtime.dtype);
  if (!type.ok()) return type.error();
  const std::string key = "weights:" + digest + ":" + runtime.device + ":" + runtime.dtype;
  const auto copy_on = [&](at::Device device) {
    return cache.get<Decoder>(key, [&] { return copy(device, *type); });
  };
  if (runtime.device == "cpu") {
    auto decoder = copy_on(at::kCPU);
    if (!decoder.ok()) return decoder.error();
    return Opened(std::make_unique<StepModel>(*std::move(decoder)));
  }
  const auto plugin = kernels::device_plugin();
  if (!plugin.ok()) return plugin.error();
  auto decoder = copy_on(at::Device(at::kCUDA, 0));
  if (!decoder.ok()) return decoder.error();
  return Opened(std::make_unique<DeviceModel>(*std::move(decoder),
                                              plugin_services(**plugin, decode_graphs_wanted())));
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
