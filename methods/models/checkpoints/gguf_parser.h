// GgufParser: reads and checks the header of a GGUF file, item by item; the inside of
// GgufFile::open.
//
// Not for other callers. Every length is checked against the bytes that are left before it is used;
// header bytes are fetched as parsing advances, so opening a large checkpoint reads only its
// header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "harness/api/result.h"
#include "methods/models/checkpoints/gguf.h"

namespace qfs::checkpoints {

class GgufParser {
 public:
  explicit GgufParser(GgufFile& file);

  Status parse();

 private:
  Status parse_counts();
  Status parse_entry();
  Status parse_value(GgufType type, std::string_view key, GgufValue& value);
  Status parse_array(std::string_view key, GgufValue& value);
  Status parse_numbers(GgufType type, uint64_t count, std::string_view key, GgufValue& value);
  Status parse_tensor();
  Status locate_tensors();

  /// The next `bytes` header bytes, or a `data` error naming `item`.
  Result<const char*> take(uint64_t bytes, std::string_view item);
  template <class T>
  Result<T> number(std::string_view item);
  Result<std::string_view> string(uint64_t limit_bytes, std::string_view item);
  Error fault(std::string message) const;

  GgufFile& file_;
  uint64_t limit_bytes_;  ///< the header may not be longer
  uint64_t position_ = 0;
  uint64_t available_ = 0;  ///< bytes of the header that are in memory
  uint64_t alignment_ = 32;
  uint64_t tensor_count_ = 0;
  uint64_t entry_count_ = 0;
};

}  // namespace qfs::checkpoints
