// StoreLock: the right to write one store file, held by flock on `<store>.lock` until destruction
// or death of the process. Children do not inherit it (close-on-exec). Used by Store. Not
// thread-safe.
#pragma once

#include <string>

#include "harness/api/result.h"
#include "harness/core/unique_fd.h"

namespace qfs::store {

class StoreLock {
 public:
  /// A `store` error that names the holder's pid when another Store, here or elsewhere, has it.
  static Result<StoreLock> acquire(const std::string& store_path);

  /// Whether a process of this machine holds it, as the kernel lists its locks (proc(5),
  /// /proc/locks): trying to take it would stand in the way of a run that begins.
  static bool held(const std::string& store_path);

 private:
  explicit StoreLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace qfs::store
