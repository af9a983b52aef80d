#include "methods/models/inspect/device_memory.h"

#include <ATen/ops/ones.h>

namespace qfs::inspect {

void wait_for(const at::Tensor& tensor) { tensor.flatten().narrow(0, 0, 1).to(at::kCPU); }

kernels::MemoryRates measure_memory(c10::Device device, int64_t bytes, double seconds) {
  const at::Tensor buffer =
      at::ones({2, bytes / 8}, at::TensorOptions().device(device).dtype(at::kFloat));
  const at::Tensor from = buffer.select(0, 0);
  const at::Tensor to = buffer.select(0, 1);
  const auto read = [&] { wait_for(buffer.sum()); };
  const auto copy = [&] {
    to.copy_(from);
    wait_for(to);
  };
  kernels::MemoryRates rates;
  rates.buffer_bytes = buffer.numel() * 4;
  const auto amount = static_cast<double>(rates.buffer_bytes);
  rates.copy = kernels::observed_rate(kernels::pass_times(seconds / 2, copy), amount);
  rates.read = kernels::observed_rate(kernels::pass_times(seconds / 2, read), amount);
  if (rates.copy.best > rates.read.best) rates.read = rates.copy;
  return rates;
}

}  // namespace qfs::inspect
