// GgufWriter: makes small GGUF files in memory, valid or hostile, for tests of readers and models.
//
// `bytes()` lays out header, metadata, tensor table and data as the format says; tests then damage
// the bytes, or use the raw setters to lie about counts and offsets. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qfs::test {

class GgufWriter {
 public:
  void text(std::string_view key, std::string_view value);
  void uint32(std::string_view key, uint32_t value);
  void float32(std::string_view key, float value);
  void boolean(std::string_view key, bool value);
  void texts(std::string_view key, const std::vector<std::string>& values);
  void int32s(std::string_view key, const std::vector<int32_t>& values);
  /// Any value: `payload` follows the type number as it is.
  void raw(std::string_view key, uint32_t type, std::string_view payload);

  /// A float32 tensor; `shape` is outermost first, as in the program.
  void tensor(std::string_view name, const std::vector<int64_t>& shape,
              const std::vector<float>& values);
  /// A tensor of any type with its packed bytes.
  void packed_tensor(std::string_view name, const std::vector<int64_t>& shape, uint32_t type,
                     std::string_view data, std::optional<uint64_t> claimed_offset = {});

  uint32_t version = 3;
  uint64_t alignment = 32;
  std::optional<uint64_t> claimed_tensors;  ///< lies about the count
  std::optional<uint64_t> claimed_entries;

  std::string bytes() const;

 private:
  std::string entries_;
  uint64_t entry_count_ = 0;
  std::string table_;
  uint64_t tensor_count_ = 0;
  std::string data_;
};

/// The bytes of a number in the file's order.
template <class T>
std::string little_endian(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// A GGUF string: its length, then its bytes.
std::string gguf_string(std::string_view text);

}  // namespace qfs::test
