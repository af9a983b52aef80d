#include "methods/models/kernels/device_loader.h"

#include <ATen/Version.h>
#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "harness/core/files.h"

namespace qfs::kernels {

namespace {

constexpr const char* kPluginName = "libqfs_cuda.so";
constexpr int kOutOfMemoryCode = 2;  // cudaErrorMemoryAllocation

std::string last_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "unknown reason";
}

/// The folder of the LibTorch that this process runs on.
std::string libtorch_folder() {
  Dl_info info{};
  // Any function of libtorch_cpu serves.
  if (dladdr(reinterpret_cast<const void*>(&at::get_cpu_capability), &info) == 0) return {};
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/'));
}

Result<std::string> plugin_path() {
  const std::string folder = executable_directory();
  for (const std::string& place : {folder, folder + "/../lib/qfs-bench"}) {
    std::string path = place + "/" + kPluginName;
    if (::access(path.c_str(), R_OK) == 0) return path;
  }
  return unavailable(std::string("device 'cuda' needs the plug-in ") + kPluginName +
                     ", which was not built or installed with this qfs-host (CMake preset 'cuda')");
}

/// The driver comes first: LibTorch throws when it is asked for devices without one. LibTorch's
/// CUDA half must be global before its CPU half looks for it.
Result<const DevicePlugin*> open_plugin() {
  const Result<std::string> path = plugin_path();
  if (!path) return path.error();
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr) {
    return unavailable("this machine has no NVIDIA driver: " + last_error());
  }
  const std::string torch = libtorch_folder() + "/libtorch_cuda.so";
  if (dlopen(torch.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return unavailable(
        "LibTorch's CUDA libraries cannot be loaded (QFS_TORCH_KIND=cuda "
        "./bootstrap.sh torch fetches them): " +
        last_error());
  }
  void* library = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return unavailable("the plug-in cannot be loaded: " + last_error());
  using Entry = const DevicePlugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "qfs_device_plugin"));
  if (entry == nullptr) return unavailable(*path + " is no device plug-in: " + last_error());
  const DevicePlugin* plugin = entry();
  if (plugin->interface != kDeviceInterface) {
    return unavailable(*path + " was built for interface " + std::to_string(plugin->interface) +
                       ", this qfs-host has " + std::to_string(kDeviceInterface));
  }
  int devices = 0;
  if (const int code = plugin->count(&devices); code != 0) {
    return unavailable(std::string("asking for CUDA devices: ") + plugin->error_text(code));
  }
  if (devices == 0) return unavailable("the NVIDIA driver shows no device");
  return plugin;
}

}  // namespace

Result<const DevicePlugin*> device_plugin() {
  static const Result<const DevicePlugin*> plugin = open_plugin();
  return plugin;
}

Error device_error(const DevicePlugin& plugin, int code, std::string_view doing) {
  const std::string message = std::string(doing) + ": " + plugin.error_text(code);
  return code == kOutOfMemoryCode ? out_of_memory(message) : internal_error(message);
}

}  // namespace qfs::kernels
