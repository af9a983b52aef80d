#include "metrics/stats/row_sums.h"

#include <algorithm>
#include <array>

namespace qfs::metrics {
namespace {

constexpr size_t kWidest = 16;
constexpr size_t kStep = 4;

template <size_t kWidth>
std::array<double, kWidest> sum_rows(const double* rows, std::span<const uint32_t> drawn) {
  std::array<double, kWidest> sums{};
  std::array<double, kWidth> running{};
  for (const uint32_t row : drawn) {
    const double* const values = rows + size_t{row} * kWidth;
    for (size_t c = 0; c < kWidth; ++c) running[c] += values[c];
  }
  std::ranges::copy(running, sums.begin());
  return sums;
}

}  // namespace

RowSums::RowSums(const ClusterSums& data) : columns_(data.columns + 1) {
  for (size_t first = 0; first < columns_; first += kWidest) {
    const size_t used = std::min(kWidest, columns_ - first);
    Block& block = blocks_.emplace_back();
    block.width = (used + kStep - 1) / kStep * kStep;
    block.rows.assign(data.clusters() * block.width, 0);
    for (size_t row = 0; row < data.clusters(); ++row) {
      for (size_t c = first; c < first + used; ++c) {
        block.rows[row * block.width + c - first] =
            c == data.columns ? data.sizes[row] : data.sums[row * data.columns + c];
      }
    }
  }
}

void RowSums::sum(std::span<const uint32_t> drawn, std::span<double> sums) const {
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const double* const rows = blocks_[b].rows.data();
    std::array<double, kWidest> block{};
    switch (blocks_[b].width) {
      case 4:
        block = sum_rows<4>(rows, drawn);
        break;
      case 8:
        block = sum_rows<8>(rows, drawn);
        break;
      case 12:
        block = sum_rows<12>(rows, drawn);
        break;
      default:
        block = sum_rows<16>(rows, drawn);
    }
    const size_t first = b * kWidest;
    std::copy_n(block.begin(), std::min(kWidest, columns_ - first),
                sums.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

}  // namespace qfs::metrics
