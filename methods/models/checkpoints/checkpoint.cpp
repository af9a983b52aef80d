#include "methods/models/checkpoints/checkpoint.h"

#include <algorithm>
#include <utility>

#include "harness/core/sha256.h"
#include "harness/core/suggest.h"

namespace qfs::checkpoints {

namespace {

// Compressed rows are read in blocks of about this size, so that a large tensor needs no second
// copy.
constexpr int64_t kReadBlockBytes = int64_t{1} << 20;

}  // namespace

void Checkpoint::set_tensors(std::vector<TensorEntry> tensors) {
  tensors_ = std::move(tensors);
  std::sort(tensors_.begin(), tensors_.end(),
            [](const TensorEntry& a, const TensorEntry& b) { return a.name < b.name; });
}

const TensorEntry* Checkpoint::find(std::string_view name) const {
  const auto it = std::lower_bound(
      tensors_.begin(), tensors_.end(), name,
      [](const TensorEntry& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return it != tensors_.end() && it->name == name ? &*it : nullptr;
}

Result<const TensorEntry*> Checkpoint::require(std::string_view name) const {
  if (const TensorEntry* tensor = find(name)) return tensor;
  std::vector<std::string> names;
  names.reserve(tensors_.size());
  for (const TensorEntry& tensor : tensors_) names.push_back(tensor.name);
  return data_error("'" + path() + "' has no tensor '" + std::string(name) + "'" +
                    suggestion(name, names));
}

Result<const TensorEntry*> Checkpoint::require(std::string_view name,
                                               std::span<const int64_t> shape) const {
  Result<const TensorEntry*> tensor = require(name);
  if (!tensor.ok() || std::ranges::equal((*tensor)->shape, shape)) return tensor;
  return data_error("tensor '" + std::string(name) + "' of '" + path() + "' has the shape " +
                    shape_text((*tensor)->shape) + ", expected " + shape_text(shape));
}

Status Checkpoint::read_rows(const TensorEntry& tensor, int64_t first, int64_t count,
                             std::span<float> out) const {
  const auto info = tensor_type_info(tensor.type);
  if (!info || !info->to_float) {
    return unavailable("tensor '" + tensor.name + "' of '" + path() + "' is stored as " +
                       tensor_type_name(tensor.type) +
                       ", which this program does not convert to float32");
  }
  const int64_t row_elements = tensor.row_elements();
  if (first < 0 || count < 0 || first > tensor.rows() - count ||
      static_cast<int64_t>(out.size()) != count * row_elements) {
    return internal_error("rows " + std::to_string(first) + " + " + std::to_string(count) +
                          " of tensor '" + tensor.name + "' are outside it or do not fit");
  }
  const int64_t row_bytes = row_elements / info->block_elements * info->block_bytes;
  if (count == 0 || row_bytes == 0) return {};
  const auto first_byte = static_cast<uint64_t>(first * row_bytes);
  if (tensor.type == TensorType::f32) {
    return read_bytes(tensor, first_byte, std::as_writable_bytes(out));
  }
  // Blocks are cut at whole blocks of the format, not at rows, so that one long row is bounded too.
  const int64_t total = count * row_bytes;
  const int64_t step =
      std::max<int64_t>(1, kReadBlockBytes / info->block_bytes) * info->block_bytes;
  const auto packed =
      std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(std::min(step, total)));
  for (int64_t done = 0; done < total; done += step) {
    const int64_t part = std::min(step, total - done);
    const std::span<std::byte> block(packed.get(), static_cast<size_t>(part));
    if (Status status = read_bytes(tensor, first_byte + static_cast<uint64_t>(done), block);
        !status.ok()) {
      return status;
    }
    const int64_t element = done / info->block_bytes * info->block_elements;
    dequantize(tensor.type, packed.get(), part / info->block_bytes * info->block_elements,
               out.data() + element);
  }
  return {};
}

Status Checkpoint::read(const TensorEntry& tensor, std::span<float> out) const {
  return read_rows(tensor, 0, tensor.rows(), out);
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (const int64_t extent : shape) {
    text.append(text.size() > 1 ? ", " : "").append(std::to_string(extent));
  }
  return text.append("]");
}

Result<std::string> files_digest(const std::string& folder, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  Sha256 hash;
  for (const std::string& name : names) {
    const Result<std::string> digest = sha256_file_cached(folder + "/" + name);
    if (!digest.ok()) return digest.error();
    hash.update(*digest).update(" ").update(name).update("\n");
  }
  return hash.hex();
}

}  // namespace qfs::checkpoints
