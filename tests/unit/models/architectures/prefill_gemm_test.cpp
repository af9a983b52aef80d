// Products of a prompt with weights that are longer than a part and end within a panel.
#include "methods/models/architectures/llama/prefill_gemm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "harness/core/rng.h"

namespace qfs::architectures {
namespace {

constexpr int64_t kInputs = 450;  // two parts of 192 and a rest
constexpr int64_t kOutputs = 77;

at::Tensor random(int64_t rows, int64_t columns, uint64_t seed) {
  const at::Tensor tensor = at::empty({rows, columns});
  Rng rng(seed);
  float* const values = tensor.mutable_data_ptr<float>();
  for (int64_t i = 0; i < tensor.numel(); ++i) values[i] = static_cast<float>(rng.uniform()) - 0.5F;
  return tensor;
}

nn::Matrix matrix_of(const at::Tensor& values) {
  nn::Matrix matrix;
  matrix.rows = values.size(0);
  matrix.columns = values.size(1);
  matrix.row_bytes = matrix.columns * 4;
  const auto bytes = static_cast<size_t>(matrix.rows * matrix.row_bytes);
  matrix.data = std::make_shared_for_overwrite<std::byte[]>(bytes);
  std::memcpy(matrix.data.get(), values.const_data_ptr(), bytes);
  return matrix;
}

TEST(PrefillGemm, parts_and_tasks_cover_the_product_once) {
  LlamaConfig config;
  config.hidden = kInputs;
  config.intermediate = kOutputs;
  config.heads = config.kv_heads = 1;
  config.head_dim = 8;
  const at::Tensor weight = random(kOutputs, kInputs, 1);
  const nn::Matrix matrix = matrix_of(weight);
  for (const int threads : {1, 3}) {
    kernels::ThreadPool pool(threads);
    PrefillGemm products(pool, config, false);
    for (const int64_t rows : {1, 13, 200, 500}) {
      const at::Tensor x = random(rows, kInputs, 2);
      const at::Tensor expected = x.to(at::kDouble).mm(weight.to(at::kDouble).t());
      const at::Tensor out = at::full({rows, kOutputs}, 7.0F);
      const at::Tensor sums = at::full({rows, kOutputs}, 7.0F);
      products.multiply(x, products.weight(matrix), out);
      products.add(x, products.weight(matrix), sums);
      EXPECT_LT((out - expected).abs().max().item<double>(), 2e-5) << rows;
      EXPECT_LT((sums - 7 - expected).abs().max().item<double>(), 2e-5) << rows;
      // A row's bits are its own.
      const at::Tensor alone = at::empty({1, kOutputs});
      products.multiply(x.narrow(0, rows - 1, 1), products.weight(matrix), alone);
      EXPECT_TRUE(alone.equal(out.narrow(0, rows - 1, 1))) << rows;
    }
  }
}

}  // namespace
}  // namespace qfs::architectures
