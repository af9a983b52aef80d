#include "methods/models/nn/device/device_draw.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "methods/models/nn/device/device_attention.h"

namespace qfs::backbones {

void draw(const DeviceServices& services, const at::Tensor& logits, const DrawRule& rule,
          std::span<const double> uniforms, std::span<int32_t> ids) {
  const at::Device device = logits.device();
  const at::Tensor numbers =
      at::tensor(at::ArrayRef<double>(uniforms.data(), uniforms.size())).to(device);
  const at::Tensor drawn = at::empty({logits.size(0)}, logits.options().dtype(at::kInt));
  const at::Tensor workspace = at::empty(logits.sizes(), logits.options().dtype(at::kLong));
  kernels::SampleNucleus task;
  task.type = element_type(logits);
  task.logits = logits.const_data_ptr();
  task.uniforms = numbers.const_data_ptr<double>();
  task.rows = logits.size(0);
  task.vocabulary = logits.size(1);
  task.temperature = rule.temperature;
  task.top_k = rule.top_k;
  task.top_p = rule.top_p;
  task.exceeds = rule.exceeds;
  task.workspace = reinterpret_cast<uint64_t*>(workspace.mutable_data_ptr<int64_t>());
  task.ids = drawn.mutable_data_ptr<int32_t>();
  services.must(services.kernels->sample_nucleus(task, services.current_stream(device.index())));
  const at::Tensor host = drawn.to(at::kCPU);
  std::copy_n(host.const_data_ptr<int32_t>(), ids.size(), ids.data());
}

}  // namespace qfs::backbones
