#include "tests/support/safetensors_writer.h"

namespace qfs::test {

void SafetensorsWriter::raw(std::string_view name, std::string_view dtype,
                            const std::vector<int64_t>& shape, std::string_view bytes) {
  std::string extents;
  for (const int64_t extent : shape) {
    extents.append(extents.empty() ? "" : ",").append(std::to_string(extent));
  }
  entries_.append(entries_.empty() ? "" : ",").append("\"").append(name).append("\":{\"dtype\":\"");
  entries_.append(dtype).append("\",\"shape\":[").append(extents).append("],\"data_offsets\":[");
  entries_.append(std::to_string(data_.size())).append(",");
  data_.append(bytes);
  entries_.append(std::to_string(data_.size())).append("]}");
}

void SafetensorsWriter::tensor(std::string_view name, const std::vector<int64_t>& shape,
                               const std::vector<float>& values) {
  raw(name, "F32", shape,
      {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

std::string SafetensorsWriter::bytes() const {
  const std::string text = header.value_or("{" + entries_ + "}");
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + text + data_;
}

}  // namespace qfs::test
