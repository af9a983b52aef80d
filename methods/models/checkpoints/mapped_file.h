// MappedFile: one file of fixed size, readable by copy (pread) and in place (read-only mapping).
//
// Used by checkpoint readers. A copy of a file that became shorter is a `data` error. Touching a
// mapping whose file was truncated raises SIGBUS, which nobody can undo for a reader in the middle
// of a matrix: a handler recognises the mapping, names the file on stderr and ends the process with
// exit code 5 (data mismatch); faults elsewhere go to the handler that was there before.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "harness/api/result.h"
#include "methods/models/checkpoints/file_reader.h"

namespace qfs::checkpoints {

class MappedFile {
 public:
  /// `not_found` or `data` as FileReader; `out_of_memory` when the address space does not suffice.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  Status read(uint64_t offset, std::span<std::byte> out) const {
    return reader_.read(offset, out.size(), out.data());
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  uint64_t size_bytes() const { return reader_.size_bytes(); }
  const std::string& path() const { return reader_.path(); }

 private:
  explicit MappedFile(FileReader reader) : reader_(std::move(reader)) {}

  FileReader reader_;
  std::span<const std::byte> bytes_;
  int guard_ = -1;
};

}  // namespace qfs::checkpoints
