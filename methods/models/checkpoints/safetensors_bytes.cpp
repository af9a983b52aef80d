#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/files.h"
#include "methods/models/checkpoints/safetensors.h"

namespace qfs::checkpoints {

namespace {

/// What stands in front of the tensors, which it sorts.
std::string header_of(std::vector<StoredTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::ranges::sort(tensors, {}, &StoredTensor::name);
  nlohmann::ordered_json header;
  if (!metadata.empty()) header["__metadata__"] = metadata;
  size_t end = 0;
  for (const StoredTensor& tensor : tensors) {
    const size_t begin = end;
    end += tensor.bytes.size();
    header[tensor.name] = {{"dtype", tensor_type_info(tensor.type)->name},
                           {"shape", tensor.shape},
                           {"data_offsets", {begin, end}}};
  }
  std::string text = tensors.empty() && metadata.empty() ? "{}" : header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + text;
}

}  // namespace

std::string safetensors_bytes(std::vector<StoredTensor> tensors,
                              const std::map<std::string, std::string>& metadata) {
  std::string file = header_of(tensors, metadata);
  for (const StoredTensor& tensor : tensors) file += tensor.bytes;
  return file;
}

Status write_safetensors(const std::string& path, std::vector<StoredTensor> tensors,
                         const std::map<std::string, std::string>& metadata) {
  const std::string header = header_of(tensors, metadata);
  std::vector<std::string_view> pieces = {header};
  for (const StoredTensor& tensor : tensors) pieces.push_back(tensor.bytes);
  return write_file(path, pieces);
}

}  // namespace qfs::checkpoints
