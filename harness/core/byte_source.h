// ByteSource: the decompressed bytes of a plain, gzip or zstd stream, a block at a time.
//
// Used by line_reader. The format is recognised by its magic bytes. A corrupt or truncated stream
// is a `data` error without place (the caller knows the line). Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "harness/api/result.h"

namespace qfs {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills the front of `buffer`; the number of bytes, 0 only at the end of the stream.
  virtual Result<size_t> read(std::span<char> buffer) = 0;
};

/// Opens `path` ("-": standard input) and looks at its first bytes.
Result<std::unique_ptr<ByteSource>> open_byte_source(const std::string& path);

}  // namespace qfs
