#include "methods/models/checkpoints/gguf.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace qfs::checkpoints {

namespace {

// Compressed bytes are read in blocks of about this size, so that a large tensor needs no second
// copy.
constexpr int64_t kRowBlockBytes = int64_t{1} << 20;

}  // namespace

const GgufEntry* GgufFile::find(std::string_view key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second;
}

Result<const GgufEntry*> GgufFile::require(std::string_view key) const {
  if (const GgufEntry* entry = find(key)) return entry;
  return data_error("'" + path() + "' has no metadata key '" + std::string(key) + "'");
}

Error GgufFile::mismatch(std::string_view key, std::string_view expected) const {
  return data_error("metadata key '" + std::string(key) + "' of '" + path() + "' is not " +
                    std::string(expected));
}

Result<int64_t> GgufFile::integer(std::string_view key) const {
  const Result<const GgufEntry*> entry = require(key);
  if (!entry.ok()) return entry.error();
  if (const auto* value = std::get_if<int64_t>(&(*entry)->value)) return *value;
  return mismatch(key, "an integer");
}

Result<double> GgufFile::real(std::string_view key) const {
  const Result<const GgufEntry*> entry = require(key);
  if (!entry.ok()) return entry.error();
  if (const auto* value = std::get_if<double>(&(*entry)->value)) return *value;
  return mismatch(key, "a real number");
}

Result<std::string_view> GgufFile::text(std::string_view key) const {
  const Result<const GgufEntry*> entry = require(key);
  if (!entry.ok()) return entry.error();
  if (const auto* value = std::get_if<std::string_view>(&(*entry)->value)) return *value;
  return mismatch(key, "a string");
}

Result<std::span<const std::string_view>> GgufFile::texts(std::string_view key) const {
  const Result<const GgufEntry*> entry = require(key);
  if (!entry.ok()) return entry.error();
  if (const auto* value = std::get_if<std::vector<std::string_view>>(&(*entry)->value)) {
    return std::span<const std::string_view>(*value);
  }
  return mismatch(key, "an array of strings");
}

Result<std::span<const int64_t>> GgufFile::integers(std::string_view key) const {
  const Result<const GgufEntry*> entry = require(key);
  if (!entry.ok()) return entry.error();
  const auto* value = std::get_if<GgufNumbers>(&(*entry)->value);
  if (value != nullptr && value->reals.empty()) return std::span<const int64_t>(value->integers);
  return mismatch(key, "an array of integers");
}

Result<bool> GgufFile::boolean_or(std::string_view key, bool fallback) const {
  const GgufEntry* entry = find(key);
  if (entry == nullptr) return fallback;
  if (const auto* value = std::get_if<bool>(&entry->value)) return *value;
  return mismatch(key, "a boolean");
}

Result<std::optional<int64_t>> GgufFile::optional_integer(std::string_view key) const {
  if (find(key) == nullptr) return std::optional<int64_t>();
  const Result<int64_t> value = integer(key);
  if (!value.ok()) return value.error();
  return std::optional<int64_t>(*value);
}

Result<const GgufTensor*> GgufFile::tensor(std::string_view name) const {
  const auto it = tensor_index_.find(name);
  if (it == tensor_index_.end()) {
    return data_error("'" + path() + "' has no tensor '" + std::string(name) + "'");
  }
  return &tensors_[it->second];
}

Result<int64_t> GgufFile::row_bytes(const GgufTensor& tensor) const {
  const std::optional<TensorTypeInfo> info = tensor_type_info(tensor.type);
  if (info) return tensor.shape.back() / info->block_elements * info->block_bytes;
  return unavailable("tensor '" + tensor.name + "' of '" + path() + "' is stored as " +
                     tensor_type_name(static_cast<uint32_t>(tensor.type)) +
                     ", which this program does not read (it reads F32, F16, BF16, Q4_0, Q4_1, "
                     "Q8_0, Q4_K and Q6_K)");
}

Status GgufFile::check_rows(const GgufTensor& tensor, int64_t first, int64_t count) const {
  const int64_t rows = tensor.elements / tensor.shape.back();
  if (first >= 0 && count >= 0 && first <= rows - count) return {};
  return internal_error("rows " + std::to_string(first) + " + " + std::to_string(count) +
                        " of tensor '" + tensor.name + "' are outside it");
}

Status GgufFile::read_packed_rows(const GgufTensor& tensor, int64_t first, int64_t count,
                                  std::span<std::byte> out) const {
  const Result<int64_t> bytes = row_bytes(tensor);
  if (!bytes.ok()) return bytes.error();
  if (Status status = check_rows(tensor, first, count); !status.ok()) return status;
  if (static_cast<int64_t>(out.size()) != count * *bytes) {
    return internal_error("the destination does not hold the rows of tensor '" + tensor.name + "'");
  }
  return file_.read(tensor.offset + static_cast<uint64_t>(first * *bytes), out.size(), out.data());
}

Status GgufFile::read_rows(const GgufTensor& tensor, int64_t first, int64_t count,
                           std::span<float> out) const {
  const Result<int64_t> bytes = row_bytes(tensor);
  if (!bytes.ok()) return bytes.error();
  if (Status status = check_rows(tensor, first, count); !status.ok()) return status;
  if (!tensor_type_info(tensor.type)->to_float) {
    return data_error("tensor '" + tensor.name + "' of '" + path() + "' holds " +
                      tensor_type_name(tensor.type) + ", expected weights");
  }
  const int64_t row_elements = tensor.shape.back();
  if (static_cast<int64_t>(out.size()) != count * row_elements) {
    return internal_error("the destination does not hold the rows of tensor '" + tensor.name + "'");
  }
  const int64_t block_rows = std::max<int64_t>(1, kRowBlockBytes / *bytes);
  const int64_t largest = std::min(block_rows, std::max<int64_t>(count, 1)) * *bytes;
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(largest));
  for (int64_t row = 0; row < count; row += block_rows) {
    const int64_t part = std::min(block_rows, count - row);
    const std::span<std::byte> block(packed.get(), static_cast<size_t>(part * *bytes));
    if (Status read = read_packed_rows(tensor, first + row, part, block); !read.ok()) return read;
    dequantize(tensor.type, packed.get(), part * row_elements, out.data() + row * row_elements);
  }
  return {};
}

Status GgufFile::read(const GgufTensor& tensor, std::span<float> out) const {
  return read_rows(tensor, 0, tensor.elements / tensor.shape.back(), out);
}

}  // namespace qfs::checkpoints
