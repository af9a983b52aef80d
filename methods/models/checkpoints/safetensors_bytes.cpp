#include <algorithm>
#include <nlohmann/json.hpp>

#include "methods/models/checkpoints/safetensors.h"

namespace qfs::checkpoints {

std::string safetensors_bytes(std::vector<StoredTensor> tensors,
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
  std::string file(reinterpret_cast<const char*>(&length), sizeof(length));
  file.reserve(sizeof(length) + text.size() + end);
  file += text;
  for (const StoredTensor& tensor : tensors) file += tensor.bytes;
  return file;
}

}  // namespace qfs::checkpoints
