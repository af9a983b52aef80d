#include "harness/run/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "harness/core/system_error.h"

namespace qfs::run {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

void act_on_signals(void (*action)(int)) {
  for (const int signal : kSignals) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (signal == SIGHUP && now.sa_handler == SIG_IGN) continue;
    now = {};
    now.sa_handler = action;
    ::sigaction(signal, &now, nullptr);
  }
}

/// Async-signal-safe.
void say_and_end(int signal) {
  const char* const parts[] = {"qfs-bench: stopped by ", signal_name(signal), "\n"};
  for (const char* const part : parts) {
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  ::_exit(128 + signal);
}

}  // namespace

void end_on_signals() { act_on_signals(say_and_end); }

void die_of_signals() { act_on_signals(SIG_DFL); }

const char* signal_name(int signal) {
  return signal == SIGTERM ? "SIGTERM" : signal == SIGHUP ? "SIGHUP" : "Ctrl-C";
}

Result<std::unique_ptr<SignalWatch>> SignalWatch::start(std::function<void(int signal)> first) {
  std::unique_ptr<SignalWatch> made(new SignalWatch(std::move(first)));
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : kSignals) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    // A blocked signal arrives although it is ignored.
    if (signal != SIGHUP || now.sa_handler != SIG_IGN) sigaddset(&watched, signal);
  }
  made->signal_fd_.reset(signalfd(-1, &watched, SFD_CLOEXEC));
  const int signal_error = errno;
  made->wake_fd_.reset(eventfd(0, EFD_CLOEXEC));
  if (!made->signal_fd_.valid() || !made->wake_fd_.valid()) {
    return unavailable("signals cannot be watched: " +
                       error_text(made->signal_fd_.valid() ? errno : signal_error));
  }
  pthread_sigmask(SIG_BLOCK, &watched, &made->previous_mask_);
  try {
    made->thread_ = std::thread(
        [watch = made.get()] { watch->watch(watch->signal_fd_.get(), watch->wake_fd_.get()); });
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &made->previous_mask_, nullptr);
    return unavailable("no thread can be started: " + error_text(error.code().value()));
  }
  return made;
}

SignalWatch::~SignalWatch() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  // An eventfd takes this write whenever its counter is below the maximum, which nothing else
  // raises.
  [[maybe_unused]] const ssize_t written = write(wake_fd_.get(), &one, sizeof(one));
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr);
}

void SignalWatch::watch(int signal_fd, int wake_fd) {
  while (true) {
    pollfd waiting[2] = {{signal_fd, POLLIN, 0}, {wake_fd, POLLIN, 0}};
    if (poll(waiting, 2, -1) < 0) continue;
    if ((waiting[1].revents & POLLIN) != 0) return;
    signalfd_siginfo info{};
    if (read(signal_fd, &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) continue;
    const int signal_number = static_cast<int>(info.ssi_signo);
    if (received() != 0) _exit(128 + signal_number);
    received_.store(signal_number, std::memory_order_relaxed);
    if (first_) first_(signal_number);
  }
}

}  // namespace qfs::run
