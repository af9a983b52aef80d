// SHA-256 (OpenSSL) of bytes, files and streams: ids, registry checks and the store use it.
//
// Instances are not thread-safe; functions are. A file that cannot be read is an error that names it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "harness/api/result.h"

namespace qfs {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  Sha256& update(std::string_view bytes);
  /// 64 lower-case hex digits; the instance may not be used afterwards.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view bytes);

/// Digest of a whole file, read in blocks.
Result<std::string> sha256_file(const std::string& path);

/// As sha256_file, but remembered in the user cache by device, inode, size and times, so that
/// a large checkpoint is read once. A cache that cannot be written is silently not used.
Result<std::string> sha256_file_cached(const std::string& path);

}  // namespace qfs
