// What Ctrl-C, SIGTERM and SIGHUP do. SignalWatch turns them into a flag that is looked at between
// units; a second signal ends the process at once (its hosts die with it, and the store is whole at
// any moment). Elsewhere `end_on_signals` ends the program with 128 + the signal's number.
//
// SignalWatch blocks the signals for the process while it lives, on a thread of its own. Construct
// it before other threads start; one at a time. SIGHUP that was ignored (nohup) stays ignored.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "harness/api/result.h"
#include "harness/core/unique_fd.h"

namespace qfs::run {

/// From here on these signals end the process with an exit code and a word on standard error.
void end_on_signals();
/// They end it as signals again: how a driver sees a host end.
void die_of_signals();

/// "Ctrl-C", "SIGTERM" or "SIGHUP".
const char* signal_name(int signal);

class SignalWatch {
 public:
  /// `first` is called on that thread with the first signal; may be empty. `unavailable` without a
  /// descriptor or a thread left.
  static Result<std::unique_ptr<SignalWatch>> start(std::function<void(int signal)> first);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// The signal that asked to stop, or 0.
  int received() const { return received_.load(std::memory_order_relaxed); }

 private:
  explicit SignalWatch(std::function<void(int signal)> first) : first_(std::move(first)) {}
  void watch(int signal_fd, int wake_fd);

  std::function<void(int)> first_;
  std::atomic<int> received_{0};
  sigset_t previous_mask_{};
  UniqueFd signal_fd_;
  UniqueFd wake_fd_;
  std::thread thread_;  ///< none where starting failed
};

}  // namespace qfs::run
