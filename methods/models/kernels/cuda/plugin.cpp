// libqfs_cuda.so: the table of device_plugin.h for NVIDIA devices.
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "methods/models/kernels/cuda/graphs.h"
#include "methods/models/kernels/cuda/kernels.h"
#include "methods/models/kernels/device_plugin.h"

namespace qfs::kernels::cuda {

namespace {

int count(int* devices) { return static_cast<int>(cudaGetDeviceCount(devices)); }

int facts(int device, DeviceFacts* facts) {
  *facts = {};
  cudaDeviceProp properties{};
  if (const cudaError_t code = cudaGetDeviceProperties(&properties, device); code != cudaSuccess) {
    return static_cast<int>(code);
  }
  static_assert(sizeof(facts->name) == sizeof(properties.name));
  std::memcpy(facts->name, properties.name, sizeof(facts->name));
  facts->capability_major = properties.major;
  facts->capability_minor = properties.minor;
  facts->multiprocessors = properties.multiProcessorCount;
  facts->memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
  facts->cudnn_version = at::detail::getCUDAHooks().versionRuntimeCuDNN();
  if (const cudaError_t code =
          cudaDeviceGetPCIBusId(facts->pci_bus_id, sizeof(facts->pci_bus_id), device);
      code != cudaSuccess) {
    return static_cast<int>(code);
  }
  const cudaError_t driver = cudaDriverGetVersion(&facts->driver_version);
  const cudaError_t runtime = cudaRuntimeGetVersion(&facts->runtime_version);
  return static_cast<int>(driver != cudaSuccess ? driver : runtime);
}

AllocatorPeaks peaks(int device) {
  using c10::CachingDeviceAllocator::StatType;
  const auto stats =
      c10::cuda::CUDACachingAllocator::getDeviceStats(static_cast<c10::DeviceIndex>(device));
  constexpr auto kAll = static_cast<size_t>(StatType::AGGREGATE);
  return {.allocated_peak = stats.allocated_bytes[kAll].peak,
          .requested_peak = stats.requested_bytes[kAll].peak,
          .reserved_peak = stats.reserved_bytes[kAll].peak};
}

void reset_peaks(int device) {
  c10::cuda::CUDACachingAllocator::resetPeakStats(static_cast<c10::DeviceIndex>(device));
}

void limit_memory(int device, int64_t bytes) {
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  const double share = static_cast<double>(bytes) / static_cast<double>(properties.totalGlobalMem);
  c10::cuda::CUDACachingAllocator::setMemoryFraction(std::min(share, 1.0),
                                                     static_cast<c10::DeviceIndex>(device));
}

void* current_stream(int device) {
  return c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(device)).stream();
}

const char* error_text(int code) { return cudaGetErrorString(static_cast<cudaError_t>(code)); }

constexpr DeviceKernels kKernels{"cuda", &rotate_store, &decode_attention, &gated_activation};

constexpr DevicePlugin kPlugin{kDeviceInterface, &kKernels,
                               &count,           &facts,
                               &peaks,           &reset_peaks,
                               &limit_memory,    &current_stream,
                               &error_text,      {&record_graph, &replay_graph, &forget_graph}};

}  // namespace

}  // namespace qfs::kernels::cuda

const qfs::kernels::DevicePlugin* qfs_device_plugin() { return &qfs::kernels::cuda::kPlugin; }
