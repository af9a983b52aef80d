// Weights on their way to a device arrive whole and rounded once, in however many pieces.
#include "methods/models/nn/device_copier.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/kernel_device.h"

namespace qfs::nn {
namespace {

TEST(DeviceCopierTest, pieces_follow_one_another) {
  constexpr int64_t kRows = 5000;
  constexpr int64_t kColumns = 8192;  // 2,048 rows a piece
  DeviceCopier copier(test::kernel_device().place, at::kBFloat16);
  std::vector<std::pair<int64_t, int64_t>> pieces;
  const at::Tensor copy =
      copier.matrix(kRows, kColumns, [&](int64_t first, int64_t count, float* out) {
        pieces.emplace_back(first, count);
        for (int64_t row = 0; row < count; ++row) {
          for (int64_t i = 0; i < kColumns; ++i) *out++ = static_cast<float>(first + row);
        }
      });
  using Pieces = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ(pieces, (Pieces{{0, 2048}, {2048, 2048}, {4096, 904}}));
  const at::Tensor rows = at::arange(kRows, at::kFloat).to(at::kBFloat16);
  EXPECT_TRUE(at::equal(copy.select(1, 0).cpu(), rows));
  EXPECT_TRUE(at::equal(copy.select(1, kColumns - 1).cpu(), rows));
}

TEST(DeviceCopierTest, tensors_keep_their_shapes) {
  DeviceCopier copier(test::kernel_device().place, at::kFloat);
  for (const auto& shape : std::vector<std::vector<int64_t>>{{7}, {3, 5}, {2, 3, 4}, {1}}) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    const at::Tensor source = at::arange(count, at::kFloat).view(shape);
    EXPECT_TRUE(at::equal(copier.tensor(source).cpu(), source));
  }
  const at::Tensor wide = at::arange(12, at::kFloat).view({3, 4}).t();  // not contiguous
  EXPECT_TRUE(at::equal(copier.tensor(wide).cpu(), wide));
  EXPECT_FALSE(copier.tensor(at::Tensor()).defined());
}

}  // namespace
}  // namespace qfs::nn
