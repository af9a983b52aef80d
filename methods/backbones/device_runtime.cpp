#include "methods/backbones/device_runtime.h"

#include <ATen/Context.h>

#include <nlohmann/json.hpp>
#include <string>

#include "methods/backbones/torch_runtime.h"
#include "methods/kernels/device_loader.h"

namespace qfs::backbones {

namespace {

// CUDA_VISIBLE_DEVICES chooses among several; a host sees one.
constexpr int kDevice = 0;

/// The plug-in once a session has asked for a device.
const kernels::DevicePlugin* g_active = nullptr;

std::string version_text(int version) {  // 13020 is 13.2
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

const char* sdpa_backend(const at::Context& context) {
  const bool flash = context.userEnabledFlashSDP();
  const bool efficient = context.userEnabledMemEfficientSDP();
  if (flash == efficient || context.userEnabledMathSDP() || context.userEnabledCuDNNSDP()) {
    return "several";
  }
  return flash ? "flash" : "memory_efficient";
}

}  // namespace

Result<c10::ScalarType> element_type_named(std::string_view dtype) {
  if (dtype == "float32") return c10::ScalarType::Float;
  if (dtype == "bfloat16") return c10::ScalarType::BFloat16;
  if (dtype == "float16") return c10::ScalarType::Half;
  return invalid_argument("unknown dtype '" + std::string(dtype) +
                          "'; valid: float32, bfloat16, float16");
}

Status configure_cuda(const RuntimeOptions& runtime) {
  const Result<c10::ScalarType> type = element_type_named(runtime.dtype);
  if (!type) return type.error();
  const Result<const kernels::DevicePlugin*> plugin = kernels::device_plugin();
  if (!plugin) return plugin.error();
  return guarded("configuring CUDA", [&]() -> Status {
    at::Context& context = at::globalContext();
    const bool flash = *type != c10::ScalarType::Float;
    context.setDeterministicAlgorithms(true, false);
    context.setAllowTF32CuBLAS(false);
    context.setAllowTF32CuDNN(false);
    context.setSDPUseCuDNN(false);
    context.setSDPUseMath(false);
    context.setSDPUseFlash(flash);
    context.setSDPUseMemEfficient(!flash);
    g_active = *plugin;
    return {};
  });
}

Status add_cuda_facts(nlohmann::json& numerics, nlohmann::json& details) {
  const Result<const kernels::DevicePlugin*> plugin = kernels::device_plugin();
  if (!plugin) return plugin.error();
  kernels::DeviceFacts facts{};
  if (const int code = (*plugin)->facts(kDevice, &facts); code != 0) {
    return kernels::device_error(**plugin, code, "asking the device for its properties");
  }
  const at::Context& context = at::globalContext();
  numerics["compute_capability"] =
      std::to_string(facts.capability_major) + "." + std::to_string(facts.capability_minor);
  numerics["cuda_runtime"] = version_text(facts.runtime_version);
  numerics["cudnn"] = facts.cudnn_version;
  numerics["multiprocessors"] = facts.multiprocessors;  // libraries split sums by their number
  numerics["tf32"] = context.allowTF32CuBLAS();
  numerics["attention"] = sdpa_backend(context);
  details["device_name"] = std::string(facts.name);
  details["device_memory_bytes"] = facts.memory_bytes;
  details["cuda_driver"] = version_text(facts.driver_version);
  return {};
}

DevicePeaks take_device_peaks() {
  if (g_active == nullptr) return {};
  const kernels::DeviceMemory memory = g_active->memory(kDevice);
  g_active->reset_peaks(kDevice);
  return {memory.allocated_peak, memory.reserved_peak};
}

}  // namespace qfs::backbones
