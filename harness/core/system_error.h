// errno as an Error: one place that decides kind and wording for failures of files and folders.
// Thread-safe.
#pragma once

#include <string>

#include "harness/api/result.h"

namespace qfs {

/// The system's words for an error number, "No such file or directory".
std::string error_text(int error_number);

/// A file that could not be opened or read: `not_found` when it is absent, `data` otherwise.
Error read_failure(int error_number, const std::string& path);

/// A file or folder that could not be made or written: `unavailable` with what to do about it (disk
/// full, read-only, no permission), `not_found` when its folder is absent.
Error write_failure(int error_number, const std::string& path);

}  // namespace qfs
