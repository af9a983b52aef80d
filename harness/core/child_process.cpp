#include "harness/core/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "harness/core/system_error.h"
#include "harness/core/unique_fd.h"

namespace qfs {
namespace {

using Clock = std::chrono::steady_clock;

/// Where a child failed before its program ran; sent over a pipe that a successful exec closes.
struct StartFailure {
  enum class Stage : int { working_directory, exec };
  Stage stage;
  int error_number;
};

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

/// Both ends close on exec and lie above the standard descriptors, which the child replaces.
Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return unavailable("cannot make a pipe: " + error_text(errno));
  }
  Pipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  for (UniqueFd* end : {&pipe.read_end, &pipe.write_end}) {
    if (end->get() > STDERR_FILENO) continue;
    end->reset(::fcntl(end->get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!end->valid()) return unavailable("cannot make a pipe: " + error_text(errno));
  }
  return pipe;
}

bool is_executable_file(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

/// argv[0] as a path. Looked up before fork, because a child may only do what signal handlers may.
Result<std::string> find_program(const ChildOptions& options) {
  if (options.command.empty() || options.command.front().empty()) {
    return invalid_argument("an empty command cannot be started");
  }
  const std::string& name = options.command.front();
  if (name.find('/') != name.npos) return name;
  std::string path;
  if (const auto own = options.environment.find("PATH"); own != options.environment.end()) {
    path = own->second;
  } else if (const char* const ours = std::getenv("PATH")) {
    path = ours;
  }
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string candidate = path.substr(begin, end - begin) + "/" + name;
    // A relative entry of PATH would name another file after the change of folder.
    if (candidate.starts_with('/') && is_executable_file(candidate)) return candidate;
    begin = end + 1;
  }
  return not_found("cannot start '" + name + "': no such program in PATH (" + path + ")");
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& text : strings) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// Everything the child needs, made before fork.
struct ChildPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const char* working_directory;  ///< nullptr: ours
  int input;
  int output;
  int request;
  int reply;
  int failure;
  pid_t parent;
};

/// Runs in the child between fork and exec: async-signal-safe calls only.
[[noreturn]] void become_program(const ChildPlan& plan) {
  constexpr int kNotStarted = 127;
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(kNotStarted);  // the parent died before prctl
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  ::dup2(plan.input, STDIN_FILENO);
  ::dup2(plan.output, STDOUT_FILENO);
  ::dup2(plan.output, STDERR_FILENO);
  // Descriptors that a library opened without O_CLOEXEC stay here; the two pipes go along.
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::fcntl(plan.request, F_SETFD, 0);
  ::fcntl(plan.reply, F_SETFD, 0);

  StartFailure failure{StartFailure::Stage::working_directory, 0};
  if (plan.working_directory == nullptr || ::chdir(plan.working_directory) == 0) {
    failure.stage = StartFailure::Stage::exec;
    ::execve(plan.program, plan.arguments, plan.environment);
  }
  failure.error_number = errno;
  // A failed report shows as exit code 127.
  [[maybe_unused]] const ssize_t sent = ::write(plan.failure, &failure, sizeof failure);
  ::_exit(kNotStarted);
}

/// The child's report, or std::nullopt when exec has closed the pipe.
std::optional<StartFailure> read_failure_report(int fd) {
  StartFailure failure{};
  ssize_t got = 0;
  do {
    got = ::read(fd, &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof failure)) return std::nullopt;
  return failure;
}

Error describe_failure(const StartFailure& failure, const ChildOptions& options) {
  if (failure.stage == StartFailure::Stage::working_directory) {
    return not_found("cannot start '" + options.command.front() + "' in '" +
                     options.working_directory + "': " + error_text(failure.error_number));
  }
  std::string message =
      "cannot start '" + options.command.front() + "': " + error_text(failure.error_number);
  if (failure.error_number == ENOEXEC)
    message += " (a script needs a first line such as #!/bin/sh)";
  return not_found(std::move(message));
}

/// Blocks all signals while it lives, so that no handler of ours runs in the child.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

ChildExit decode_exit(int status) {
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

/// A process that outlives this one by a moment, to kill the groups of children that it leaves
/// behind: what a child started does not notice that we were killed. It gets a number for each
/// group that begins and its negative when that ends; the end of the pipe is our end.
class GroupGuard {
 public:
  static GroupGuard& of_this_process() {
    static GroupGuard guard;
    return guard;
  }

  void watch(pid_t group) { tell(group); }
  void forget(pid_t group) { tell(-group); }

 private:
  GroupGuard() {
    Result<Pipe> pipe = make_pipe();
    if (!pipe) return;
    const SignalsBlocked blocked;  // the guard keeps them blocked
    const pid_t pid = ::fork();
    if (pid == 0) stand_guard(pipe->read_end.get());
    if (pid > 0) numbers_ = std::move(pipe->write_end);
  }

  /// Async-signal-safe calls only, as other threads may hold locks.
  [[noreturn]] static void stand_guard(int numbers) {
    constexpr size_t kMostGroups = 256;
    pid_t groups[kMostGroups] = {};
    ::setsid();  // out of the reach of a terminal and of signals to our group
    ::dup2(numbers, STDIN_FILENO);
    ::close_range(STDIN_FILENO + 1, ~0U, 0);
    pid_t told = 0;
    while (true) {
      const ssize_t got = ::read(STDIN_FILENO, &told, sizeof told);
      if (got < 0 && errno == EINTR) continue;
      if (got != static_cast<ssize_t>(sizeof told)) break;
      const pid_t wanted = told > 0 ? 0 : -told;
      for (pid_t& group : groups) {
        if (group != wanted) continue;
        group = told > 0 ? told : 0;
        break;
      }
    }
    for (const pid_t group : groups) {
      if (group > 0) ::kill(-group, SIGKILL);
    }
    ::_exit(0);
  }

  /// A guard that somebody killed guards no more; writing to it then fails, which is no failure.
  void tell(pid_t number) {
    if (numbers_.valid() && ::write(numbers_.get(), &number, sizeof number) < 0) numbers_.reset();
  }

  UniqueFd numbers_;
};

/// Ends what is left of the group while the zombie leader still reserves its number, then reaps.
ChildExit kill_group_and_reap(pid_t pid) {
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);  // it may have left its group
  GroupGuard::of_this_process().forget(pid);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return decode_exit(status);
}

bool has_exited(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

/// Sleeps until the process exits or the deadline passes.
void await_exit(pid_t pid, Clock::time_point deadline) {
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  while (!has_exited(pid)) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return;
    if (pidfd.valid()) {
      pollfd wanted{pidfd.get(), POLLIN, 0};
      ::poll(&wanted, 1, static_cast<int>(std::min<int64_t>(left, 3'600'000)));
    } else {
      // Kernels before 5.3 have no pidfd.
      std::this_thread::sleep_for(std::chrono::milliseconds(std::min<int64_t>(left, 10)));
    }
  }
}

}  // namespace

std::string ChildExit::describe() const {
  if (signal == 0) return "exit code " + std::to_string(code);
  const char* const name = ::sigdescr_np(signal);
  return "signal " + std::to_string(signal) +
         (name == nullptr ? "" : std::string(" (") + name + ")");
}

Result<ChildProcess> ChildProcess::start(const ChildOptions& options) {
  const Result<std::string> program = find_program(options);
  if (!program) return program.error();
  Result<Pipe> requests = make_pipe();
  if (!requests) return requests.error();
  Result<Pipe> replies = make_pipe();
  if (!replies) return replies.error();
  Result<Pipe> failures = make_pipe();
  if (!failures) return failures.error();

  GroupGuard& guard = GroupGuard::of_this_process();
  const std::string log = options.log_path.empty() ? "/dev/null" : options.log_path;
  const UniqueFd output(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!output.valid()) return write_failure(errno, log);
  const UniqueFd input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!input.valid()) return read_failure(errno, "/dev/null");

  std::vector<std::string> arguments = options.command;
  std::map<std::string, std::string> variables = options.environment;
  variables["QFS_REQUEST_FD"] = std::to_string(requests->read_end.get());
  variables["QFS_REPLY_FD"] = std::to_string(replies->write_end.get());
  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);

  const ChildPlan plan{
      .program = program->c_str(),
      .arguments = argument_pointers.data(),
      .environment = environment_pointers.data(),
      .working_directory =
          options.working_directory.empty() ? nullptr : options.working_directory.c_str(),
      .input = input.get(),
      .output = output.get(),
      .request = requests->read_end.get(),
      .reply = replies->write_end.get(),
      .failure = failures->write_end.get(),
      .parent = ::getpid(),
  };
  pid_t pid = -1;
  int fork_error = 0;
  {
    const SignalsBlocked blocked;
    pid = ::fork();
    if (pid == 0) become_program(plan);
    fork_error = errno;
  }
  if (pid < 0) {
    return unavailable("cannot start '" + options.command.front() + "': " + error_text(fork_error));
  }
  ::setpgid(pid, pid);  // also here: whoever is first; too late after exec, and then done already
  guard.watch(pid);
  ChildProcess child;
  child.pid_ = pid;
  child.log_path_ = options.log_path;
  child.request_fd_ = requests->write_end.release();
  child.reply_fd_ = replies->read_end.release();
  failures->write_end.reset();
  if (const std::optional<StartFailure> failure = read_failure_report(failures->read_end.get())) {
    return describe_failure(*failure, options);
  }
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      request_fd_(std::exchange(other.request_fd_, -1)),
      reply_fd_(std::exchange(other.reply_fd_, -1)),
      log_path_(std::move(other.log_path_)),
      exit_(std::exchange(other.exit_, std::nullopt)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  ChildProcess taken(std::move(other));
  std::swap(pid_, taken.pid_);
  std::swap(request_fd_, taken.request_fd_);
  std::swap(reply_fd_, taken.reply_fd_);
  std::swap(log_path_, taken.log_path_);
  std::swap(exit_, taken.exit_);
  return *this;
}

ChildProcess::~ChildProcess() {
  close_requests();
  if (reply_fd_ >= 0) ::close(reply_fd_);
  if (pid_ <= 0) return;
  kill();
  bound_log();
}

void ChildProcess::close_requests() {
  if (request_fd_ >= 0) ::close(std::exchange(request_fd_, -1));
}

std::optional<ChildExit> ChildProcess::wait(std::chrono::milliseconds timeout) {
  if (exit_) return exit_;
  await_exit(pid_, Clock::now() + timeout);
  if (has_exited(pid_)) exit_ = kill_group_and_reap(pid_);
  return exit_;
}

ChildExit ChildProcess::kill() {
  if (!exit_) exit_ = kill_group_and_reap(pid_);
  return *exit_;
}

ProcessMemory ChildProcess::memory() const {
  return exit_ ? ProcessMemory{} : process_memory(pid_);
}

}  // namespace qfs
