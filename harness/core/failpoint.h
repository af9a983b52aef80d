// Failpoints: named places where tests make the program die as a crash would.
//
// QFS_FAILPOINT="store.before_commit:3" in the environment kills the process (SIGKILL) the third
// time it passes QFS_FAILPOINT_HERE("store.before_commit"). Several are separated by commas. With
// ":error:N" the N-th passing returns true from `failpoint_fires` instead, for a simulated failure;
// with ":interrupt:N" the process sends itself SIGINT, as Ctrl-C would, and goes on.
// Without the variable a failpoint costs one relaxed load. Thread-safe.
#pragma once

#include <string_view>

namespace qfs {

/// Counts a passing of `name`; kills the process or returns true when its turn has come.
bool failpoint_fires(std::string_view name);

}  // namespace qfs

/// Dies here when asked to; otherwise nothing.
#define QFS_FAILPOINT_HERE(name) static_cast<void>(::qfs::failpoint_fires(name))
