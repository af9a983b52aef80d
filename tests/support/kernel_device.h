// The device that a test of device code runs on: the CPU twins; with QFS_TEST_DEVICE=emulated the
// CUDA kernels' own code, thread by thread on the CPU (emulated_cuda/); with libtorch what LibTorch
// computes in place of kernels; with cuda the GPU (which must then be there).
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "methods/models/kernels/device_loader.h"
#include "methods/models/nn/device/device_services.h"
#include "methods/models/nn/runtime/proven_kernels.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/support/emulated_cuda/emulated_kernels.h"

namespace qfs::test {

struct KernelDevice {
  at::Device place = at::kCPU;
  const kernels::DeviceKernels* kernels = nullptr;
  nn::DeviceServices services;

  void* stream() const { return services.current_stream(0); }
};

inline bool device_is(std::string_view name) {
  const char* wanted = std::getenv("QFS_TEST_DEVICE");
  return wanted != nullptr && wanted == name;
}

inline bool on_cuda() { return device_is("cuda"); }

/// Of so many repetitions of a random test, how many are made: a fortieth where the 512 threads of
/// a block take turns on one core.
inline uint64_t repetitions(uint64_t count) {
  return device_is("emulated") ? (count + 39) / 40 : count;
}

inline KernelDevice kernel_device() {
  KernelDevice device;
  device.services = nn::cpu_device_services();
  if (device_is("emulated")) device.services.kernels = &emulated_cuda_kernels();
  if (device_is("libtorch")) device.services.kernels = &nn::libtorch_kernels(at::kCPU);
  if (on_cuda()) {
    const Status configured = nn::configure_torch({.device = "cuda", .dtype = "bfloat16"});
    EXPECT_TRUE(configured.ok()) << configured.error().to_string();
    const auto plugin = kernels::device_plugin();
    if (plugin.ok()) {
      device.place = at::Device(at::kCUDA, 0);
      device.services = nn::plugin_services(**plugin, *(*plugin)->kernels, true);
    }
  }
  device.kernels = device.services.kernels;
  return device;
}

}  // namespace qfs::test
