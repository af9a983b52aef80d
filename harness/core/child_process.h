// ChildProcess: a program started with two message pipes, its output in a log file, and an
// environment of allow-listed variables; how the driver owns its hosts.
//
// The child leads its own process group. The group is killed when the object dies, when the child
// ends before what it started, and, by a guard process, when we are killed ourselves; the child
// also dies with the thread that started it (Linux PR_SET_PDEATHSIG), so start children from a
// thread that lives as long as they should. The pipes' numbers are in QFS_REQUEST_FD and
// QFS_REPLY_FD of the child. Writing to a dead child raises SIGPIPE: programs that own children
// ignore it (the child gets the default action back) and see EPIPE. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"

namespace qfs {

struct ChildOptions {
  std::vector<std::string> command;  ///< argv; command[0] is looked up in PATH, no shell
  std::map<std::string, std::string> environment;  ///< the whole environment of the child
  std::string working_directory;                   ///< empty: ours
  std::string log_path;  ///< stdout and stderr are appended here; empty: dropped
};

/// What a log may grow to before its middle is left out, and what is kept of each of its ends.
inline constexpr int64_t kMostLogBytes = int64_t{4} << 20;
inline constexpr int64_t kKeptLogBytes = int64_t{1} << 20;

struct ChildExit {
  int code = 0;    ///< exit status, when it exited
  int signal = 0;  ///< terminating signal, 0 when it exited

  /// "exit code 3", "signal 9 (Killed)".
  std::string describe() const;
};

/// Memory of a running process, from /proc; zeros when it is gone.
struct ProcessMemory {
  int64_t anonymous_bytes = 0;  ///< RssAnon: what limits are compared with
  int64_t resident_bytes = 0;   ///< VmRSS
  int64_t peak_bytes = 0;       ///< VmHWM
};

class ChildProcess {
 public:
  /// Starts the program; `not_found` when it cannot be executed (reported by the child's exec).
  static Result<ChildProcess> start(const ChildOptions& options);
  ChildProcess(ChildProcess&&) noexcept;
  ChildProcess& operator=(ChildProcess&&) noexcept;
  ~ChildProcess();  ///< kills the group and reaps

  pid_t pid() const { return pid_; }
  int request_fd() const { return request_fd_; }  ///< we write requests here
  int reply_fd() const { return reply_fd_; }      ///< we read replies here

  /// Closes our end of the request pipe, so that the child's read ends.
  void close_requests();
  /// The exit, when it has happened within `timeout` (zero: only look).
  std::optional<ChildExit> wait(std::chrono::milliseconds timeout);
  /// SIGKILL to the group, then reaps.
  ChildExit kill();
  ProcessMemory memory() const;
  /// Leaves out the middle of the log when it is longer than kMostLogBytes; to be called now and
  /// then while the child runs. It is done at the end as well.
  void bound_log() const;

 private:
  ChildProcess() = default;
  pid_t pid_ = -1;
  int request_fd_ = -1;
  int reply_fd_ = -1;
  std::string log_path_;
  std::optional<ChildExit> exit_;
};

ProcessMemory process_memory(pid_t pid);

/// Processor time that a running process has used, in clock ticks; 0 when it is gone.
int64_t processor_ticks(pid_t pid);

/// Resets VmHWM of the calling process (Linux: /proc/self/clear_refs); false where not permitted.
bool reset_own_peak_memory();

/// The variables of our environment that a child may see (PATH, HOME, LANG, LC_*, TMPDIR, XDG_*,
/// QFS_*, OMP/GOMP/MKL/CUDA/PYTORCH settings, PYTHONPATH, VIRTUAL_ENV).
std::map<std::string, std::string> allowed_environment();

}  // namespace qfs
