// The device that a test of device code runs on: the CPU twins, or with QFS_TEST_DEVICE=cuda the
// GPU (which must then be there).
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "methods/backbones/device/device_services.h"
#include "methods/backbones/runtime/torch_runtime.h"
#include "methods/kernels/device_loader.h"

namespace qfs::test {

struct KernelDevice {
  at::Device place = at::kCPU;
  const kernels::DeviceKernels* kernels = nullptr;
  backbones::DeviceServices services;

  void* stream() const { return services.current_stream(0); }
};

inline bool on_cuda() {
  const char* wanted = std::getenv("QFS_TEST_DEVICE");
  return wanted != nullptr && std::string_view(wanted) == "cuda";
}

inline KernelDevice kernel_device() {
  KernelDevice device;
  device.services = backbones::cpu_device_services();
  if (on_cuda()) {
    const Status configured = backbones::configure_torch({.device = "cuda", .dtype = "bfloat16"});
    EXPECT_TRUE(configured.ok()) << configured.error().to_string();
    const auto plugin = kernels::device_plugin();
    if (plugin.ok()) {
      device.place = at::Device(at::kCUDA, 0);
      device.services = backbones::plugin_services(**plugin, true);
    }
  }
  device.kernels = device.services.kernels;
  return device;
}

}  // namespace qfs::test
