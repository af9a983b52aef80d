#include "methods/models/nn/device_copier.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace qfs::nn {

namespace {

// 64 MiB: long enough for the full rate of a bus, short beside any machine's memory.
constexpr int64_t kPieceFloats = int64_t{1} << 24;

}  // namespace

DeviceCopier::DeviceCopier(at::Device device, at::ScalarType type) : device_(device), type_(type) {}

at::Tensor DeviceCopier::matrix(int64_t rows, int64_t columns, const ExpandRows& expand) {
  at::Tensor result = at::empty({rows, columns}, at::TensorOptions().device(device_).dtype(type_));
  const int64_t piece = std::min(rows, std::max<int64_t>(1, kPieceFloats / columns));
  if (!buffer_.defined() || buffer_.numel() < piece * columns) {
    buffer_.reset();
    buffer_ = at::empty({piece * columns},
                        at::TensorOptions().dtype(at::kFloat).pinned_memory(device_.is_cuda()));
  }
  for (int64_t first = 0; first < rows; first += piece) {
    const int64_t count = std::min(piece, rows - first);
    expand(first, count, buffer_.mutable_data_ptr<float>());
    // Returns when the piece has been read: the buffer is written again.
    result.narrow(0, first, count)
        .copy_(buffer_.narrow(0, 0, count * columns).view({count, columns}));
  }
  return result;
}

at::Tensor DeviceCopier::tensor(const at::Tensor& source) {
  if (!source.defined()) return source;
  const at::Tensor whole = source.to(at::kFloat).contiguous();
  const int64_t columns = whole.dim() > 1 ? whole.numel() / whole.size(0) : 1;
  const float* const values = whole.const_data_ptr<float>();
  return matrix(whole.numel() / columns, columns,
                [&](int64_t first, int64_t count, float* out) {
                  std::copy_n(values + first * columns, count * columns, out);
                })
      .view(source.sizes());
}

}  // namespace qfs::nn
