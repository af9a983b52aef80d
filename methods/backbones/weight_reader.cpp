#include "methods/backbones/weight_reader.h"

#include <algorithm>

#include "methods/kernels/cpu_kernels.h"

namespace qfs::backbones {

namespace {

using checkpoints::GgufTensor;
using checkpoints::TensorType;

std::string to_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t extent : shape) {
    text.append(text.size() > 1 ? ", " : "").append(std::to_string(extent));
  }
  return text.append("]");
}

bool stays_packed(TensorType type, int64_t columns) {
  return (type == TensorType::q4_1 || type == TensorType::q8_0) &&
         columns <= kernels::kMaxPackedRow;
}

}  // namespace

void WeightReader::keep(const Status& status) {
  if (status_.ok() && !status.ok()) status_ = status;
}

const GgufTensor* WeightReader::find(const std::string& name, const std::vector<int64_t>& shape) {
  const Result<const GgufTensor*> tensor = file_.tensor(name);
  if (!tensor.ok()) return keep(tensor.error()), nullptr;
  used_.insert(name);
  if ((*tensor)->shape == shape) return *tensor;
  keep(data_error("tensor '" + name + "' of '" + file_.path() + "' has the shape " +
                  to_text((*tensor)->shape) + ", expected " + to_text(shape)));
  return nullptr;
}

Matrix WeightReader::matrix(std::span<const MatrixPart> parts, int64_t columns) {
  std::vector<const GgufTensor*> tensors;
  Matrix matrix;
  matrix.columns = columns;
  for (const MatrixPart& part : parts) {
    tensors.push_back(find(part.name, {part.rows, columns}));
    if (tensors.back() == nullptr) return {};
    matrix.rows += part.rows;
  }
  const TensorType type = tensors.front()->type;
  const bool packed = stays_packed(type, columns) &&
                      std::all_of(tensors.begin(), tensors.end(),
                                  [&](const GgufTensor* tensor) { return tensor->type == type; });
  if (packed) matrix.type = type;
  const auto info = *checkpoints::tensor_type_info(matrix.type);
  matrix.row_bytes = columns / info.block_elements * info.block_bytes;
  matrix.data = std::make_shared_for_overwrite<std::byte[]>(
      static_cast<size_t>(matrix.rows * matrix.row_bytes));
  int64_t row = 0;
  for (size_t i = 0; i < parts.size() && status_.ok(); ++i) {
    fill(parts[i], *tensors[i], matrix, row);
    row += parts[i].rows;
  }
  return matrix;
}

Status WeightReader::read(const GgufTensor& tensor, const Matrix& matrix, int64_t first,
                          int64_t count, std::byte* out) const {
  const auto bytes = static_cast<size_t>(count * matrix.row_bytes);
  if (matrix.type != TensorType::f32) {
    return file_.read_packed_rows(tensor, first, count, {out, bytes});
  }
  return file_.read_rows(tensor, first, count,
                         {reinterpret_cast<float*>(out), bytes / sizeof(float)});
}

void WeightReader::fill(const MatrixPart& part, const GgufTensor& tensor, Matrix& matrix,
                        int64_t first_row) {
  if (part.head_dim == 0) {
    keep(read(tensor, matrix, 0, part.rows, matrix.row(first_row)));
    return;
  }
  const auto head = std::make_unique_for_overwrite<std::byte[]>(
      static_cast<size_t>(part.head_dim * matrix.row_bytes));
  for (int64_t row = 0; row < part.rows; row += part.head_dim) {
    if (Status status = read(tensor, matrix, row, part.head_dim, head.get()); !status.ok()) {
      return keep(status);
    }
    for (int64_t i = 0; i < part.head_dim; ++i) {
      const int64_t target = first_row + row + i % 2 * (part.head_dim / 2) + i / 2;
      std::copy_n(head.get() + i * matrix.row_bytes, matrix.row_bytes, matrix.row(target));
    }
  }
}

std::vector<float> WeightReader::vector(const std::string& name, int64_t length) {
  const GgufTensor* tensor = find(name, {length});
  if (tensor == nullptr) return {};
  std::vector<float> values(static_cast<size_t>(length));
  keep(file_.read(*tensor, values));
  return values;
}

Status WeightReader::check_all_used() const {
  for (const GgufTensor& tensor : file_.tensors()) {
    if (!used_.contains(tensor.name)) {
      return unavailable("'" + file_.path() + "' has the tensor '" + tensor.name +
                         "', which is not part of the models this program computes");
    }
  }
  return {};
}

}  // namespace qfs::backbones
