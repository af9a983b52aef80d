// Names and structures: NVML API reference, 12.0 and 13.0 (nvmlInit_v2, nvmlMemory_t).
#include "methods/models/kernels/nvml.h"

#include <dlfcn.h>

#include <utility>

namespace qfs::kernels {

namespace {

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

}  // namespace

struct NvmlDevice::Library {
  void* handle = nullptr;
  bool initialized = false;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*find)(const char* pci_bus_id, void** device) = nullptr;
  int (*memory)(void* device, Memory* memory) = nullptr;
  int (*energy)(void* device, unsigned long long* millijoules) = nullptr;  ///< null in old ones
  const char* (*words)(int code) = nullptr;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (initialized) shutdown();
    if (handle != nullptr) dlclose(handle);
  }

  template <class Function>
  bool load(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
  }

  /// The first function that the library lacks; null when it has all.
  const char* missing() {
    if (!load("nvmlInit_v2", init)) return "nvmlInit_v2";
    if (!load("nvmlShutdown", shutdown)) return "nvmlShutdown";
    if (!load("nvmlDeviceGetHandleByPciBusId_v2", find)) return "nvmlDeviceGetHandleByPciBusId_v2";
    if (!load("nvmlDeviceGetMemoryInfo", memory)) return "nvmlDeviceGetMemoryInfo";
    if (!load("nvmlErrorString", words)) return "nvmlErrorString";
    load("nvmlDeviceGetTotalEnergyConsumption", energy);
    return nullptr;
  }

  Error refused(const char* function, int code) const {
    return unavailable(std::string(function) + ": " + words(code) + " (" + std::to_string(code) +
                       ")");
  }
};

NvmlDevice::NvmlDevice(std::unique_ptr<Library> library) : library_(std::move(library)) {}
NvmlDevice::~NvmlDevice() = default;

Result<std::unique_ptr<NvmlDevice>> NvmlDevice::open(const std::string& pci_bus_id,
                                                     const std::string& library) {
  auto nvml = std::make_unique<Library>();
  nvml->handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (nvml->handle == nullptr) {
    const char* reason = dlerror();
    return unavailable(reason != nullptr ? reason : library + " cannot be loaded");
  }
  if (const char* name = nvml->missing(); name != nullptr) {
    return unavailable(library + " has no " + name);
  }
  if (const int code = nvml->init(); code != 0) return nvml->refused("nvmlInit_v2", code);
  nvml->initialized = true;
  std::unique_ptr<NvmlDevice> device(new NvmlDevice(std::move(nvml)));
  const Library& opened = *device->library_;
  if (const int code = opened.find(pci_bus_id.c_str(), &device->device_); code != 0) {
    return opened.refused("nvmlDeviceGetHandleByPciBusId_v2", code);
  }
  return device;
}

Result<int64_t> NvmlDevice::used_bytes() const {
  Memory memory{};
  if (const int code = library_->memory(device_, &memory); code != 0) {
    return library_->refused("nvmlDeviceGetMemoryInfo", code);
  }
  return static_cast<int64_t>(memory.used);
}

Result<int64_t> NvmlDevice::energy_millijoules() const {
  constexpr const char* kFunction = "nvmlDeviceGetTotalEnergyConsumption";
  if (library_->energy == nullptr) return unavailable(std::string("NVML has no ") + kFunction);
  unsigned long long used = 0;
  if (const int code = library_->energy(device_, &used); code != 0) {
    return library_->refused(kFunction, code);
  }
  return static_cast<int64_t>(used);
}

}  // namespace qfs::kernels
