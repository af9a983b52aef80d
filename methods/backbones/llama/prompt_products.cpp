#include "methods/backbones/llama/prompt_products.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>

#include <algorithm>

#include "methods/kernels/cpu_kernels.h"

namespace qfs::backbones {

namespace {

// Weight rows of one task of expansion.
constexpr int64_t kExpandGrain = 32;

}  // namespace

PromptProducts::PromptProducts(kernels::ThreadPool& pool, const LlamaConfig& config, bool bfloat16)
    : pool_(pool),
      bfloat16_(bfloat16),
      first_(at::empty(
          {std::max(2 * config.intermediate, config.query_width() + 2 * config.kv_width()) *
           config.hidden})),
      second_(at::empty({std::max(config.intermediate, config.query_width()) * config.hidden})) {}

at::Tensor PromptProducts::weight(const Matrix& matrix, Place place) {
  using checkpoints::TensorType;
  if (matrix.type == TensorType::f32) {
    return at::from_blob(matrix.data.get(), {matrix.rows, matrix.columns}).t();
  }
  if (bfloat16_ && matrix.type == TensorType::bf16) {
    return at::from_blob(matrix.data.get(), {matrix.rows, matrix.columns}, at::kBFloat16).t();
  }
  const at::Tensor& scratch = place == Place::first ? first_ : second_;
  float* out = scratch.mutable_data_ptr<float>();
  const auto expand = kernels::cpu_kernels().expand;
  pool_.for_ranges(matrix.rows, kExpandGrain, [&](int64_t begin, int64_t end) {
    expand(matrix.type, matrix.row(begin), (end - begin) * matrix.columns,
           out + begin * matrix.columns);
  });
  return scratch.narrow(0, 0, matrix.rows * matrix.columns).view({matrix.rows, matrix.columns}).t();
}

void PromptProducts::multiply(const at::Tensor& x, const at::Tensor& weight, at::Tensor out) {
  if (weight.scalar_type() == at::kBFloat16) {
    out.copy_(at::mm(x.to(at::kBFloat16), weight));
  } else {
    at::mm_out(out, x, weight);
  }
}

void PromptProducts::add(const at::Tensor& x, const at::Tensor& weight, at::Tensor sums) {
  if (weight.scalar_type() == at::kBFloat16) {
    sums.add_(at::mm(x.to(at::kBFloat16), weight));
  } else {
    at::addmm_out(sums, sums, x, weight);
  }
}

}  // namespace qfs::backbones
