#include "methods/backbones/models.h"

#include "methods/backbones/cpu_causal_model.h"
#include "methods/backbones/device_llama.h"
#include "methods/backbones/device_runtime.h"
#include "methods/kernels/device_loader.h"

namespace qfs::backbones {

Result<std::unique_ptr<CausalModel>> open_model(const Backbone& backbone,
                                                const RuntimeOptions& runtime,
                                                ResourceCache& cache) {
  if (runtime.device == "cpu") return make_cpu_model(backbone.weights);
  const auto plugin = kernels::device_plugin();
  if (!plugin.ok()) return plugin.error();
  const auto type = element_type_named(runtime.dtype);
  if (!type.ok()) return type.error();
  const std::string key = "weights:" + backbone.digest + ":" + runtime.device + ":" + runtime.dtype;
  auto weights = cache.get<DeviceLlamaWeights>(
      key, [&] { return copy_to_device(*backbone.weights, at::Device(at::kCUDA, 0), *type); });
  if (!weights.ok()) return weights.error();
  return make_device_model(*weights, {.kernels = (*plugin)->kernels,
                                      .current_stream = (*plugin)->current_stream,
                                      .error_text = (*plugin)->error_text});
}

}  // namespace qfs::backbones
