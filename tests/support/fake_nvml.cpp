// A stand-in for libnvidia-ml.so.1 that tests point the loader to. QFS_FAKE_NVML=FUNCTION:CODE
// makes a function fail; built with QFS_FAKE_NVML_INCOMPLETE it lacks nvmlDeviceGetMemoryInfo. It
// counts initialisations that were not shut down in `fake_nvml_open`.
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

int device_of_the_test = 0;

int code_of(const std::string& function) {
  const char* wanted = std::getenv("QFS_FAKE_NVML");
  const std::string setting = wanted != nullptr ? wanted : "";
  const size_t colon = setting.find(':');
  if (setting.substr(0, colon) != function) return 0;
  return std::stoi(setting.substr(colon + 1));
}

}  // namespace

extern "C" {

int fake_nvml_open = 0;

int nvmlInit_v2() {
  const int code = code_of("init");
  if (code == 0) ++fake_nvml_open;
  return code;
}

int nvmlShutdown() {
  --fake_nvml_open;
  return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* pci_bus_id, void** device) {
  if (std::strcmp(pci_bus_id, "00000000:1B:00.0") != 0) return 6;  // NVML_ERROR_NOT_FOUND
  *device = &device_of_the_test;
  return code_of("find");
}

#ifndef QFS_FAKE_NVML_INCOMPLETE
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  if (device != &device_of_the_test) return 2;  // NVML_ERROR_INVALID_ARGUMENT
  const int code = code_of("memory");
  if (code == 0) *memory = {100ULL << 30, 95ULL << 30, 5ULL << 30};
  return code;
}
#endif

#ifndef QFS_FAKE_NVML_INCOMPLETE
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  if (device != &device_of_the_test) return 2;
  const int code = code_of("energy");
  if (code == 0) *millijoules = 123'456'789'012ULL;
  return code;
}
#endif

const char* nvmlErrorString(int code) { return code == 3 ? "Not Supported" : "Some Error"; }
}
