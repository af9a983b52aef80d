#include "tests/support/gguf_writer.h"

namespace qfs::test {

namespace {

constexpr uint32_t kUint32 = 4;
constexpr uint32_t kInt32 = 5;
constexpr uint32_t kFloat32 = 6;
constexpr uint32_t kBoolean = 7;
constexpr uint32_t kString = 8;
constexpr uint32_t kArray = 9;

}  // namespace

std::string gguf_string(std::string_view text) {
  return little_endian<uint64_t>(text.size()).append(text);
}

void GgufWriter::raw(std::string_view key, uint32_t type, std::string_view payload) {
  entries_.append(gguf_string(key)).append(little_endian(type)).append(payload);
  ++entry_count_;
}

void GgufWriter::text(std::string_view key, std::string_view value) {
  raw(key, kString, gguf_string(value));
}
void GgufWriter::uint32(std::string_view key, uint32_t value) {
  raw(key, kUint32, little_endian(value));
}
void GgufWriter::float32(std::string_view key, float value) {
  raw(key, kFloat32, little_endian(value));
}
void GgufWriter::boolean(std::string_view key, bool value) {
  raw(key, kBoolean, std::string(1, value ? '\1' : '\0'));
}

void GgufWriter::texts(std::string_view key, const std::vector<std::string>& values) {
  std::string payload = little_endian(kString) + little_endian<uint64_t>(values.size());
  for (const std::string& value : values) payload += gguf_string(value);
  raw(key, kArray, payload);
}

void GgufWriter::int32s(std::string_view key, const std::vector<int32_t>& values) {
  std::string payload = little_endian(kInt32) + little_endian<uint64_t>(values.size());
  for (const int32_t value : values) payload += little_endian(value);
  raw(key, kArray, payload);
}

void GgufWriter::tensor(std::string_view name, const std::vector<int64_t>& shape,
                        const std::vector<float>& values) {
  packed_tensor(name, shape, 0,
                std::string_view(reinterpret_cast<const char*>(values.data()),
                                 values.size() * sizeof(float)));
}

void GgufWriter::packed_tensor(std::string_view name, const std::vector<int64_t>& shape,
                               uint32_t type, std::string_view data,
                               std::optional<uint64_t> claimed_offset) {
  data_.resize((data_.size() + alignment - 1) / alignment * alignment);
  table_.append(gguf_string(name)).append(little_endian(static_cast<uint32_t>(shape.size())));
  for (size_t i = shape.size(); i-- > 0;)
    table_.append(little_endian(static_cast<uint64_t>(shape[i])));
  table_.append(little_endian(type));
  table_.append(little_endian(claimed_offset.value_or(data_.size())));
  data_.append(data);
  ++tensor_count_;
}

std::string GgufWriter::bytes() const {
  std::string file = "GGUF";
  file.append(little_endian(version));
  file.append(little_endian(claimed_tensors.value_or(tensor_count_)));
  file.append(little_endian(claimed_entries.value_or(entry_count_)));
  file.append(entries_).append(table_);
  file.resize((file.size() + alignment - 1) / alignment * alignment);
  return file.append(data_);
}

}  // namespace qfs::test
