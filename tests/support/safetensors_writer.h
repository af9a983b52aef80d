// SafetensorsWriter: makes small safetensors files in memory, for tests of readers and loaders.
//
// The header can be replaced by any text, to lie about names, types and places. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qfs::test {

class SafetensorsWriter {
 public:
  /// A tensor with its bytes as stored.
  void raw(std::string_view name, std::string_view dtype, const std::vector<int64_t>& shape,
           std::string_view bytes);
  /// A float32 tensor.
  void tensor(std::string_view name, const std::vector<int64_t>& shape,
              const std::vector<float>& values);

  std::optional<std::string> header;  ///< instead of the true one
  std::string bytes() const;
  const std::string& data() const { return data_; }

 private:
  std::string entries_;
  std::string data_;
};

}  // namespace qfs::test
