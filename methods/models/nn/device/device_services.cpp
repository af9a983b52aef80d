#include "methods/models/nn/device/device_services.h"

#include <stdexcept>

namespace qfs::nn {

void DeviceServices::must(int code) const {
  if (code != 0) throw std::runtime_error(error_text(code));
}

DeviceServices plugin_services(const kernels::DevicePlugin& plugin,
                               const kernels::DeviceKernels& kernels, bool graphs) {
  return {.kernels = &kernels,
          .current_stream = plugin.current_stream,
          .error_text = plugin.error_text,
          .graphs = graphs ? &plugin.graphs : nullptr};
}

DeviceServices cpu_device_services() {
  return {.kernels = &kernels::cpu_device_kernels(),
          .current_stream = [](int) -> void* { return nullptr; },
          .error_text = [](int) { return "CPU kernels do not fail"; }};
}

}  // namespace qfs::nn
