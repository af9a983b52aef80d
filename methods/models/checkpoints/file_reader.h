// FileReader: positioned reads from one file of known size, for checkpoint formats.
//
// Used by gguf.cpp. It reads (pread) instead of mapping the file, so that a checkpoint that shrinks
// or disappears from a network disk while it is read is a `data` error and never a SIGBUS.
// Thread-safe after opening.
#pragma once

#include <cstdint>
#include <string>

#include "harness/api/result.h"

namespace qfs::checkpoints {

class FileReader {
 public:
  /// `not_found` when there is no such regular file, `data` when it cannot be opened.
  static Result<FileReader> open(const std::string& path);
  FileReader(FileReader&& other) noexcept;
  FileReader& operator=(FileReader&& other) noexcept;
  ~FileReader();

  /// Fills `destination` with bytes [offset, offset + bytes); a short read is a `data` error.
  Status read(uint64_t offset, uint64_t bytes, void* destination) const;

  int descriptor() const { return descriptor_; }
  uint64_t size_bytes() const { return size_bytes_; }
  const std::string& path() const { return path_; }

 private:
  FileReader(int descriptor, uint64_t size_bytes, std::string path)
      : descriptor_(descriptor), size_bytes_(size_bytes), path_(std::move(path)) {}

  int descriptor_ = -1;
  uint64_t size_bytes_ = 0;
  std::string path_;
};

}  // namespace qfs::checkpoints
