#include "methods/models/nn/device/device_model.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "methods/models/nn/runtime/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

DeviceModel::DeviceModel(SequenceShape shape, const CacheShape& cache, const at::Tensor& weight,
                         const DeviceServices& services, int64_t lists)
    : shape_(std::move(shape)),
      services_(services),
      cache_shape_(cache),
      options_(weight.options()),
      attention_(services, weight.device()),
      lists_(lists),
      graphs_(services.graphs, weight.device().index()) {}

Status DeviceModel::begin(int64_t rows, int64_t capacity) {
  const Status fits = check_cache_size(rows, capacity, shape_.context);
  if (!fits.ok()) return fits;
  if (!cache_.has_room(rows, capacity)) forget_records();
  return cache_.make_room(cache_shape_, options_, rows, capacity);
}

Status DeviceModel::decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                           std::span<float> logits) {
  Status status = check_step(rows, tokens, shape_.vocabulary, cache_.lengths, cache_.capacity());
  if (!status.ok()) return status;
  status = check_logits_room(logits, rows.size(), shape_.vocabulary);
  if (!status.ok()) return status;
  return guarded("decoding", [&]() -> Status {
    copy_logits(run(rows, tokens).logits, logits);
    return {};
  });
}

Status DeviceModel::reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) {
  return cache_.reassign(rows, sources);
}

void DeviceModel::add_inputs(std::span<const int64_t>, std::vector<int32_t>&, StepShape&) const {}

const StepMemory& DeviceModel::run(std::span<const int64_t> rows, std::span<const int32_t> tokens) {
  const auto count = static_cast<int64_t>(rows.size());
  std::vector<int32_t> inputs(tokens.begin(), tokens.end());
  for (const int64_t row : rows) inputs.push_back(static_cast<int32_t>(row));
  int64_t longest = 0;
  for (const int64_t row : rows) {
    const int64_t length = cache_.lengths[static_cast<size_t>(row)];
    inputs.push_back(static_cast<int32_t>(length));
    longest = std::max(longest, length + 1);
  }
  StepShape step{.rows = count, .parts = recorded_parts(longest, cache_.capacity())};
  add_inputs(rows, inputs, step);
  const StepMemory& memory = memory_of(count);
  memory.inputs.copy_(packed(inputs, count));
  graphs_.run(step, [this, memory, step] { compute(memory, step); });
  for (const int64_t row : rows) ++cache_.lengths[static_cast<size_t>(row)];
  return memory;
}

void DeviceModel::copy_logits(const at::Tensor& scores, std::span<float> logits) {
  const at::Tensor host = scores.to(at::kCPU, at::kFloat).contiguous();
  std::copy_n(host.const_data_ptr<float>(), logits.size(), logits.data());
}

at::Tensor DeviceModel::packed(const std::vector<int32_t>& lists, int64_t length) {
  const at::Tensor packed =
      at::empty({static_cast<int64_t>(lists.size()) / length, length}, at::kInt);
  std::ranges::copy(lists, packed.mutable_data_ptr<int32_t>());
  return packed;
}

LayerCache DeviceModel::cache(size_t layer) const {
  return {cache_.keys.select(0, static_cast<int64_t>(layer)),
          cache_.values.select(0, static_cast<int64_t>(layer))};
}

const StepMemory& DeviceModel::memory_of(int64_t rows) {
  const auto [found, made] = memory_.try_emplace(rows);
  if (made) {
    found->second = {at::empty({lists_, rows}, options_.dtype(at::kInt)),
                     at::empty({rows, shape_.vocabulary}, options_)};
  }
  return found->second;
}

}  // namespace qfs::nn
