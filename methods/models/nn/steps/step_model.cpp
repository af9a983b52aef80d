#include "methods/models/nn/steps/step_model.h"

#include <ATen/Parallel.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <utility>

#include "methods/models/nn/runtime/input_checks.h"
#include "methods/models/nn/runtime/torch_runtime.h"

namespace qfs::nn {

StepModel::StepModel(SequenceShape shape, const CacheShape& cache, const at::Tensor& weight)
    : shape_(std::move(shape)),
      cache_shape_(cache),
      options_(weight.options()),
      pool_(at::get_num_threads()),
      products_(pool_),
      attention_(pool_, cache.heads, cache.dim) {}

Status StepModel::begin(int64_t rows, int64_t capacity) {
  const Status fits = check_cache_size(rows, capacity, shape_.context);
  if (!fits.ok()) return fits;
  return cache_.make_room(cache_shape_, options_, rows, capacity);
}

Status StepModel::decode(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                         std::span<float> logits) {
  Status status = check_step(rows, tokens, shape_.vocabulary, cache_.lengths, cache_.capacity());
  if (!status.ok()) return status;
  status = check_logits_room(logits, rows.size(), shape_.vocabulary);
  if (!status.ok()) return status;
  return guarded("decoding", [&]() -> Status {
    run(rows, tokens, logits);
    return {};
  });
}

Status StepModel::reassign(std::span<const int64_t> rows, std::span<const int64_t> sources) {
  return cache_.reassign(rows, sources);
}

void StepModel::run(std::span<const int64_t> rows, std::span<const int32_t> tokens,
                    std::span<float> logits) {
  std::vector<int64_t> positions;
  for (const int64_t row : rows) positions.push_back(cache_.lengths[static_cast<size_t>(row)]);
  const at::Tensor ids = at::tensor(at::ArrayRef<int32_t>(tokens.data(), tokens.size()));
  copy_logits(compute(rows, ids, at::tensor(positions)), logits);
  for (const int64_t row : rows) ++cache_.lengths[static_cast<size_t>(row)];
}

void StepModel::copy_logits(const at::Tensor& scores, std::span<float> logits) {
  const at::Tensor floats = scores.to(at::kFloat).contiguous();
  std::copy_n(floats.const_data_ptr<float>(), logits.size(), logits.data());
}

at::Tensor StepModel::attend_past(const at::Tensor& qkv, size_t layer,
                                  std::span<const int64_t> rows) {
  const at::Tensor parts = in_heads(qkv);
  std::vector<KeyValues> past;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t length = cache_.lengths[static_cast<size_t>(rows[i])];
    const at::Tensor added = parts.select(0, static_cast<int64_t>(i));
    past.push_back(held(layer, rows[i], length + 1));
    past.back().keys.select(1, length).copy_(added.select(0, 1));
    past.back().values.select(1, length).copy_(added.select(0, 2));
  }
  return attention_(parts.select(1, 0), past);
}

at::Tensor StepModel::attend(const at::Tensor& queries, std::span<const KeyValues> held) {
  return attention_(in_heads(queries).select(1, 0), held);
}

KeyValues StepModel::held(size_t layer, int64_t row, int64_t positions) const {
  const auto of = [&](const at::Tensor& states) {
    return states.select(0, static_cast<int64_t>(layer)).select(0, row).narrow(1, 0, positions);
  };
  return {of(cache_.keys), of(cache_.values)};
}

}  // namespace qfs::nn
