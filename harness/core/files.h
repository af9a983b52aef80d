// Files and folders: opening and reading inputs, writing outputs, and where this user's cache and
// data live.
//
// A file is written as a temporary one in the same folder: write, fsync, rename, fsync of the
// folder. After a crash there is the old file or the new one. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "harness/core/unique_fd.h"

namespace qfs {

enum class InputKind {
  any,      ///< also what is read once: a pipe, a terminal
  regular,  ///< a file that is read more than once, or not from front to end
};

/// Opens an input. Folders, and devices that are no terminal, are refused; so is, for `regular`,
/// all that is no file. While a FIFO has no bytes yet, a log line says what is waited for.
Result<UniqueFd> open_input(const std::string& path, InputKind kind = InputKind::any);

/// Returns when `fd` can be read; after a second without, the log says that `name` is waited for.
void wait_for_input(int fd, const std::string& name);

/// The whole file, of at most `max_bytes`; `not_found` or `data` with the path and the reason.
Result<std::string> read_file(const std::string& path, uint64_t max_bytes = uint64_t{1} << 32);

/// Writes a file whole or not at all, and keeps the mode of one that is there. Links are followed;
/// what is no regular file (a device, a FIFO, /dev/stdout) is written to and stays. Errors are
/// `unavailable` with what to do (disk full, no permission), `not_found` for an absent folder.
Status write_file(const std::string& path, std::string_view bytes);
/// The same of pieces, one behind the other.
Status write_file(const std::string& path, std::span<const std::string_view> pieces);
/// The same of a file that is not there yet; false, and nothing is written, where there is one,
/// also one that another process makes at the same time.
Result<bool> create_file(const std::string& path, std::string_view bytes);

/// Removes from a folder what writers that were ended left there; nobody writes there meanwhile.
void remove_unfinished(const std::string& folder);

/// Creates a folder and its parents; fine when it exists.
Status make_directories(const std::string& path);

/// $QFS_CACHE_DIR, else $XDG_CACHE_HOME/qfs-bench, else ~/.cache/qfs-bench.
std::string cache_directory();

/// The folder of read-only program data, laid out as the source tree (datasets/, experiments/, …):
/// $QFS_DATA_DIR, else <executable>/../share/qfs-bench, else the source tree of the build.
std::string program_data_directory();

/// The directory of the running executable (resolved).
std::string executable_directory();

/// Files below `root` that match a glob pattern ('*', '?', '[…]'; '**' any depth), relative to
/// `root`, sorted bytewise. As in a shell, wildcards do not match a leading dot. A pattern that is
/// absolute or has '..', and a matching link that leaves `root`, are `invalid_argument`: nothing
/// outside is read, and nothing that was named is left out unseen.
Result<std::vector<std::string>> glob_files(const std::string& root, const std::string& pattern);

}  // namespace qfs
