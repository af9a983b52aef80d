#include "methods/models/architectures/reading/weight_reader.h"

#include <algorithm>

#include "methods/models/kernels/cpu_kernels.h"

namespace qfs::architectures {

using checkpoints::TensorEntry;
using checkpoints::TensorType;

void WeightReader::keep(const Status& status) {
  if (status_.ok() && !status.ok()) status_ = status;
}

const TensorEntry* WeightReader::find(const std::string& name, const std::vector<int64_t>& shape) {
  const Result<const TensorEntry*> tensor = file_.require(name, shape);
  used_.insert(name);
  if (tensor.ok()) return *tensor;
  keep(tensor.error());
  return nullptr;
}

nn::Matrix WeightReader::matrix(std::span<const MatrixPart> parts, int64_t columns) {
  std::vector<const TensorEntry*> tensors;
  nn::Matrix matrix;
  matrix.columns = columns;
  for (const MatrixPart& part : parts) {
    tensors.push_back(find(part.name, {part.rows, columns}));
    if (tensors.back() == nullptr) return {};
    matrix.rows += part.rows;
  }
  const TensorType type = tensors.front()->type;
  const bool packed = nn::stays_packed(type) && columns <= kernels::kMaxPackedRow &&
                      std::all_of(tensors.begin(), tensors.end(),
                                  [&](const TensorEntry* tensor) { return tensor->type == type; });
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

Status WeightReader::read(const TensorEntry& tensor, const nn::Matrix& matrix, int64_t first,
                          int64_t count, std::byte* out) const {
  const auto bytes = static_cast<size_t>(count * matrix.row_bytes);
  if (matrix.type != TensorType::f32) {
    return file_.read_bytes(tensor, static_cast<uint64_t>(first * matrix.row_bytes), {out, bytes});
  }
  return file_.read_rows(tensor, first, count,
                         {reinterpret_cast<float*>(out), bytes / sizeof(float)});
}

void WeightReader::fill(const MatrixPart& part, const TensorEntry& tensor, nn::Matrix& matrix,
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
  const TensorEntry* tensor = find(name, {length});
  if (tensor == nullptr) return {};
  std::vector<float> values(static_cast<size_t>(length));
  keep(file_.read(*tensor, values));
  return values;
}

std::vector<float> WeightReader::vectors(std::span<const VectorPart> parts) {
  std::vector<float> values;
  for (const VectorPart& part : parts) {
    const std::vector<float> next = vector(part.name, part.length);
    values.insert(values.end(), next.begin(), next.end());
  }
  return values;
}

void WeightReader::expect_copy(const std::string& name, const std::string& of) {
  used_.insert(name);
  const TensorEntry* copy = file_.find(name);
  const TensorEntry* original = file_.find(of);
  if (copy == nullptr || original == nullptr) return;
  const bool equal = copy->type == original->type &&
                     std::ranges::equal(file_.mapped_bytes(*copy), file_.mapped_bytes(*original));
  if (equal) return;
  keep(data_error("'" + file_.path() + "' has a " + name + " that differs from " + of +
                  ", whose copy it is by the configuration; \"tie_word_embeddings\": false reads "
                  "both"));
}

Status WeightReader::check_all_used() const {
  for (const TensorEntry& tensor : file_.tensors()) {
    if (!used_.contains(tensor.name)) {
      return unavailable("'" + file_.path() + "' has the tensor '" + tensor.name +
                         "', which is not part of the models this program computes");
    }
  }
  return {};
}

}  // namespace qfs::architectures
