#include "methods/models/nn/runtime/device_runtime.h"

#include <ATen/Context.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "harness/core/log.h"
#include "methods/models/kernels/device_loader.h"
#include "methods/models/kernels/nvml.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

namespace {

// CUDA_VISIBLE_DEVICES chooses among several; a host sees one.
constexpr int kDevice = 0;

/// What is known of the device once a session has asked for it.
struct ActiveDevice {
  const kernels::DevicePlugin* plugin = nullptr;
  std::unique_ptr<kernels::NvmlDevice> nvml;  ///< null where it cannot be asked
  std::string nvml_refusal;
  std::optional<int64_t> used_before_bytes;
  std::optional<ProvenKernels> kernels = {};

  std::optional<int64_t> counted(Result<int64_t> (kernels::NvmlDevice::*count)() const) const {
    if (!nvml) return std::nullopt;
    const Result<int64_t> found = (*nvml.*count)();
    return found.ok() ? std::optional(*found) : std::nullopt;
  }
};
std::optional<ActiveDevice> g_active;

/// Before the first work on the device, which is when its memory counts as used before.
ActiveDevice activate(const kernels::DevicePlugin& plugin, const kernels::DeviceFacts& facts) {
  ActiveDevice active;
  active.plugin = &plugin;
  Result<std::unique_ptr<kernels::NvmlDevice>> nvml = kernels::NvmlDevice::open(facts.pci_bus_id);
  if (nvml.ok()) {
    active.nvml = *std::move(nvml);
  } else {
    active.nvml_refusal = nvml.error().message;
  }
  active.used_before_bytes = active.counted(&kernels::NvmlDevice::used_bytes);
  return active;
}

Result<kernels::DeviceFacts> facts_of(const kernels::DevicePlugin& plugin) {
  kernels::DeviceFacts facts{};
  if (const int code = plugin.facts(kDevice, &facts); code != 0) {
    return kernels::device_error(plugin, code, "asking the device for its properties");
  }
  return facts;
}

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
  for (const auto type :
       {c10::ScalarType::Float, c10::ScalarType::BFloat16, c10::ScalarType::Half}) {
    if (dtype == name_of(type)) return type;
  }
  return invalid_argument("unknown dtype '" + std::string(dtype) +
                          "'; valid: float32, bfloat16, float16");
}

std::string_view name_of(c10::ScalarType type) {
  if (type == c10::ScalarType::BFloat16) return "bfloat16";
  return type == c10::ScalarType::Half ? "float16" : "float32";
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
    if (g_active) return {};
    const Result<kernels::DeviceFacts> facts = facts_of(**plugin);
    if (!facts) return facts.error();
    ActiveDevice active = activate(**plugin, *facts);
    // The allocator can be asked from here on, also by a session that has no tensors.
    context.lazyInitDevice(c10::DeviceType::CUDA);
    // The sweep's "device_memory_mib", which the driver says to its hosts.
    if (const char* bytes = std::getenv("QFS_DEVICE_MEMORY_BYTES")) {
      (*plugin)->limit_memory(kDevice, std::strtoll(bytes, nullptr, 10));
    }
    g_active = std::move(active);
    return {};
  });
}

MaskedAttention::MaskedAttention() : before_(at::globalContext().userEnabledMemEfficientSDP()) {
  at::globalContext().setSDPUseMemEfficient(true);
}

MaskedAttention::~MaskedAttention() { at::globalContext().setSDPUseMemEfficient(before_); }

Result<kernels::DeviceFacts> device_facts() {
  const Result<const kernels::DevicePlugin*> plugin = kernels::device_plugin();
  if (!plugin) return plugin.error();
  return facts_of(**plugin);
}

Result<const ProvenKernels*> proven_device_kernels() {
  const Result<const kernels::DevicePlugin*> plugin = kernels::device_plugin();
  if (!plugin) return plugin.error();
  return guarded("comparing the device's kernels with LibTorch",
                 [&]() -> Result<const ProvenKernels*> {
                   if (!g_active) return internal_error("no device was configured");
                   if (!g_active->kernels) {
                     g_active->kernels = prove(*(*plugin)->kernels, at::Device(at::kCUDA, kDevice),
                                               (*plugin)->current_stream(kDevice));
                     for (const std::string& name : g_active->kernels->replaced) {
                       log_warning("the kernel '" + name +
                                   "' differs from LibTorch on this device and is not used");
                     }
                   }
                   return &*g_active->kernels;
                 });
}

bool decode_graphs_wanted() {
  const char* choice = std::getenv("QFS_CUDA_GRAPHS");
  return choice == nullptr || std::string_view(choice) != "off";
}

Status add_cuda_facts(nlohmann::json& numerics, nlohmann::json& details) {
  const Result<kernels::DeviceFacts> asked = device_facts();
  if (!asked) return asked.error();
  const kernels::DeviceFacts& facts = *asked;
  const at::Context& context = at::globalContext();
  numerics["compute_capability"] =
      std::to_string(facts.capability_major) + "." + std::to_string(facts.capability_minor);
  numerics["cuda_runtime"] = version_text(facts.runtime_version);
  numerics["cudnn"] = facts.cudnn_version;
  numerics["multiprocessors"] = facts.multiprocessors;  // libraries split sums by their number
  numerics["tf32"] = context.allowTF32CuBLAS();
  numerics["attention"] = sdpa_backend(context);
  const auto kernels = proven_device_kernels();
  if (!kernels) return kernels.error();
  std::string replaced;
  for (const std::string& name : (*kernels)->replaced) replaced += " " + name;
  numerics["kernels"] = "own" + (replaced.empty() ? "" : ", but LibTorch's" + replaced);
  details["device_name"] = std::string(facts.name);
  details["device_memory_bytes"] = facts.memory_bytes;
  details["cuda_driver"] = version_text(facts.driver_version);
  details["decode_graphs"] = decode_graphs_wanted();
  if (g_active && !g_active->nvml) details["nvml"] = g_active->nvml_refusal;
  return {};
}

std::optional<DeviceUse> take_device_use() {
  if (!g_active) return std::nullopt;
  DeviceUse use;
  use.allocator = g_active->plugin->peaks(kDevice);
  use.used_bytes = g_active->counted(&kernels::NvmlDevice::used_bytes);
  use.energy_millijoules = g_active->counted(&kernels::NvmlDevice::energy_millijoules);
  use.used_before_bytes = g_active->used_before_bytes;
  g_active->plugin->reset_peaks(kDevice);
  return use;
}

}  // namespace qfs::nn
