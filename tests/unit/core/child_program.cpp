// core_child: the program that tests of harness/core start. The first argument says what to do.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "harness/core/child_process.h"
#include "harness/core/failpoint.h"
#include "harness/core/files.h"

extern char** environ;

namespace {

int descriptor(const char* variable) { return std::atoi(std::getenv(variable)); }

void reply(const std::string& text) {
  if (::write(descriptor("QFS_REPLY_FD"), text.data(), text.size()) < 0) std::exit(4);
}

/// Copies requests to replies until the requests end.
int echo() {
  char block[4096];
  while (true) {
    const ssize_t got = ::read(descriptor("QFS_REQUEST_FD"), block, sizeof block);
    if (got <= 0) return got == 0 ? 0 : 3;
    reply(std::string(block, static_cast<size_t>(got)));
  }
}

int sleep_long() {
  std::this_thread::sleep_for(std::chrono::seconds(60));
  return 0;
}

/// Replies with one line a fact about what was inherited.
int describe() {
  std::string facts;
  for (char** entry = environ; *entry != nullptr; ++entry)
    facts += std::string("env ") + *entry + "\n";
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_DFL) {
      facts += "handled " + std::to_string(number) + "\n";
    }
  }
  sigset_t mask;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (int number = 1; number < NSIG; ++number) {
    if (sigismember(&mask, number) == 1) facts += "blocked " + std::to_string(number) + "\n";
  }
  for (int fd = 0; fd < 256; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) facts += "fd " + std::to_string(fd) + "\n";
  }
  char byte = 0;
  facts += "stdin " + std::to_string(::read(STDIN_FILENO, &byte, 1)) + "\n";
  facts += ::getpgrp() == ::getpid() ? "leader\n" : "";
  char folder[4096];
  facts += std::string("cwd ") + ::getcwd(folder, sizeof folder) + "\n";
  reply(facts);
  return 0;
}

/// Starts a grandchild in its own group (nested) or in ours (fork), replies its pid, and stays. A
/// nested one that forks replies for itself.
int nested(const std::string& task) {
  qfs::ChildOptions options;
  options.command = {qfs::executable_directory() + "/core_child", task};
  const qfs::Result<qfs::ChildProcess> child = qfs::ChildProcess::start(options);
  if (!child) return 5;
  if (task == "sleep") {
    reply(std::to_string(child->pid()) + "\n");
    return sleep_long();
  }
  char block[64];
  const ssize_t got = ::read(child->reply_fd(), block, sizeof block);
  reply(std::string(block, static_cast<size_t>(std::max<ssize_t>(got, 0))));
  return sleep_long();
}

int forked(bool stay) {
  const pid_t pid = ::fork();
  if (pid == 0) return sleep_long();
  reply(std::to_string(pid) + "\n");
  return stay ? sleep_long() : 0;
}

int allocate() {
  constexpr size_t kBytes = size_t{64} << 20;
  std::vector<char> block(kBytes, 'x');
  reply(std::string(1, block[kBytes / 2]));
  return sleep_long();
}

int pass_failpoints() {
  for (int i = 0; i < 5; ++i) {
    std::printf("%s\n", qfs::failpoint_fires("test.point") ? "fired" : "passed");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string task = argc > 1 ? argv[1] : "";
  if (task == "echo") return echo();
  if (task == "sleep") return sleep_long();
  if (task == "describe") return describe();
  if (task == "nested") return nested(argc > 2 ? argv[2] : "sleep");
  if (task == "fork-and-stay") return forked(true);
  if (task == "fork-and-leave") return forked(false);
  if (task == "allocate") return allocate();
  if (task == "failpoints") return pass_failpoints();
  if (task == "exit") return std::atoi(argv[2]);
  if (task == "abort") std::abort();
  if (task == "data-directory") {
    std::printf("%s", qfs::program_data_directory().c_str());
    return 0;
  }
  if (task == "print") {
    std::printf("to stdout\n");
    std::fflush(stdout);
    std::fprintf(stderr, "to stderr\n");
    return 0;
  }
  return 2;
}
