// ChildProcess: what a child inherits, how its end is seen, and that nothing outlives its owner.
#include "harness/core/child_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "harness/core/files.h"
#include "tests/support/temporary_folder.h"

namespace qfs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

/// Reads until the pipe ends, or one line.
std::string read_reply(const ChildProcess& child, bool one_line = false) {
  std::string text;
  char byte = 0;
  while (::read(child.reply_fd(), &byte, 1) == 1) {
    text += byte;
    if (one_line && byte == '\n') break;
  }
  return text;
}

/// A zombie counts as gone: it runs nothing and holds no memory.
bool gone_within(pid_t pid, seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (process_memory(pid).resident_bytes > 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

class Child : public ::testing::Test {
 protected:
  ChildOptions options(std::vector<std::string> arguments) const {
    ChildOptions options;
    options.command = {executable_directory() + "/core_child"};
    options.command.insert(options.command.end(), arguments.begin(), arguments.end());
    options.log_path = folder_ / "log";
    return options;
  }
  ChildProcess started(std::vector<std::string> arguments) const {
    Result<ChildProcess> child = ChildProcess::start(options(std::move(arguments)));
    if (!child) throw std::runtime_error(child.error().message);
    return *std::move(child);
  }

  TemporaryFolder folder_;
};

TEST_F(Child, AnswersRequestsUntilTheyEnd) {
  ChildProcess child = started({"echo"});
  ASSERT_EQ(::write(child.request_fd(), "hello\n", 6), 6);
  EXPECT_EQ(read_reply(child, true), "hello\n");
  EXPECT_FALSE(child.wait(milliseconds(0)).has_value());
  child.close_requests();
  const std::optional<ChildExit> exit = child.wait(seconds(20));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->describe(), "exit code 0");
  EXPECT_EQ(read_reply(child), "");
}

TEST_F(Child, ReportsExitCodesAndSignals) {
  EXPECT_EQ(started({"exit", "3"}).wait(seconds(20))->describe(), "exit code 3");
  EXPECT_EQ(started({"abort"}).wait(seconds(20))->describe(), "signal 6 (Aborted)");
  ChildProcess sleeper = started({"sleep"});
  EXPECT_EQ(sleeper.kill().describe(), "signal 9 (Killed)");
  EXPECT_EQ(sleeper.wait(milliseconds(0))->signal, SIGKILL);  // remembered
}

TEST_F(Child, IsWaitedForNoLongerThanTheTimeout) {
  ChildProcess child = started({"sleep"});
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(child.wait(milliseconds(100)).has_value());
  const auto waited = std::chrono::steady_clock::now() - before;
  EXPECT_GE(waited, milliseconds(100));
  EXPECT_LT(waited, seconds(10));
}

TEST_F(Child, HasExactlyTheGivenEnvironmentAndTheTwoNumbers) {
  ChildOptions wanted = options({"describe"});
  wanted.environment = {{"LANG", "C"}, {"QFS_REQUEST_FD", "99"}};
  Result<ChildProcess> child = ChildProcess::start(wanted);
  ASSERT_TRUE(child.ok()) << child.error().message;
  const std::string facts = read_reply(*child);
  EXPECT_THAT(facts, HasSubstr("env LANG=C\n"));
  EXPECT_THAT(facts, HasSubstr("env QFS_REPLY_FD="));
  EXPECT_THAT(facts, Not(HasSubstr("env QFS_REQUEST_FD=99\n")));
  EXPECT_THAT(facts, Not(HasSubstr("env PATH=")));
}

TEST_F(Child, InheritsStandardStreamsAndTwoPipesOnly) {
  const int leaked =
      ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as a careless library does
  ASSERT_GE(leaked, 0);
  ChildProcess child = started({"describe"});
  const std::string facts = read_reply(child);
  ::close(leaked);
  size_t descriptors = 0;
  for (size_t at = facts.find("\nfd "); at != facts.npos; at = facts.find("\nfd ", at + 1)) {
    ++descriptors;
  }
  EXPECT_EQ(descriptors, 5U) << facts;
  EXPECT_THAT(facts, HasSubstr("\nstdin 0\n"));  // at its end, as /dev/null is
}

TEST_F(Child, LeadsItsGroupWithoutOurSignalSettings) {
  auto* const pipe_before = ::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  ChildProcess child = started({"describe"});
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGPIPE, pipe_before);
  const std::string facts = read_reply(child);
  EXPECT_THAT(facts, HasSubstr("leader\n"));
  EXPECT_THAT(facts, Not(HasSubstr("handled " + std::to_string(SIGPIPE) + "\n")));
  EXPECT_THAT(facts, Not(HasSubstr("blocked")));
}

TEST_F(Child, RunsInTheGivenFolder) {
  ChildOptions wanted = options({"describe"});
  wanted.working_directory = folder_.path();
  Result<ChildProcess> child = ChildProcess::start(wanted);
  ASSERT_TRUE(child.ok());
  EXPECT_THAT(read_reply(*child), HasSubstr("cwd " + folder_.path() + "\n"));
}

TEST_F(Child, AppendsBothStreamsToItsLog) {
  folder_.write("log", "before\n");
  ASSERT_TRUE(started({"print"}).wait(seconds(20)).has_value());
  EXPECT_EQ(*read_file(folder_ / "log"), "before\nto stdout\nto stderr\n");
}

TEST_F(Child, IsLookedUpInThePathWithoutAShell) {
  ChildOptions wanted;
  wanted.command = {"sh", "-c", "exit 7"};
  wanted.environment = {{"PATH", "relative:/nowhere:/bin:/usr/bin"}};
  Result<ChildProcess> child = ChildProcess::start(wanted);
  ASSERT_TRUE(child.ok()) << child.error().message;
  EXPECT_EQ(child->wait(seconds(20))->code, 7);
  wanted.command = {"sh; exit 7"};
  EXPECT_EQ(ChildProcess::start(wanted).error().kind, ErrorKind::not_found);
}

TEST_F(Child, ThatCannotBeExecutedIsAnErrorWithItsReason) {
  ChildOptions wanted = options({});
  wanted.command = {"no-such-program"};
  EXPECT_THAT(ChildProcess::start(wanted).error().message,
              HasSubstr("'no-such-program': no such program in PATH"));
  wanted.command = {folder_ / "absent"};
  EXPECT_EQ(ChildProcess::start(wanted).error().kind, ErrorKind::not_found);
  wanted.command = {folder_.write("plain.txt", "text")};
  EXPECT_THAT(ChildProcess::start(wanted).error().message, HasSubstr("Permission denied"));
  ASSERT_EQ(::chmod((folder_ / "plain.txt").c_str(), 0755), 0);
  EXPECT_THAT(ChildProcess::start(wanted).error().message, HasSubstr("#!"));
  wanted.command = {};
  EXPECT_EQ(ChildProcess::start(wanted).error().kind, ErrorKind::invalid_argument);
}

TEST_F(Child, NeedsItsFolderAndItsLog) {
  ChildOptions wanted = options({"exit", "0"});
  wanted.working_directory = folder_ / "absent";
  EXPECT_THAT(ChildProcess::start(wanted).error().message, HasSubstr("absent'"));
  wanted = options({"exit", "0"});
  wanted.log_path = folder_ / "absent/log";
  EXPECT_THAT(ChildProcess::start(wanted).error().message, HasSubstr("absent/log'"));
}

TEST_F(Child, DiesWithItsObject) {
  pid_t pid = 0;
  {
    const ChildProcess child = started({"sleep"});
    pid = child.pid();
    EXPECT_GT(child.memory().resident_bytes, 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);  // reaped, not even a zombie
}

TEST_F(Child, IsReplacedByMoveAssignment) {
  ChildProcess child = started({"sleep"});
  const pid_t first = child.pid();
  child = started({"sleep"});
  EXPECT_EQ(::kill(first, 0), -1);
  EXPECT_GT(child.memory().resident_bytes, 0);
}

TEST_F(Child, TakesItsWholeGroupAlong) {
  ChildProcess child = started({"fork-and-stay"});
  const pid_t grandchild = std::stoi(read_reply(child, true));
  ASSERT_GT(process_memory(grandchild).resident_bytes, 0);
  child.kill();
  EXPECT_TRUE(gone_within(grandchild, seconds(20)));
}

TEST_F(Child, TakesItsGroupAlongAlsoWhenItExitsItself) {
  ChildProcess child = started({"fork-and-leave"});
  const pid_t grandchild = std::stoi(read_reply(child, true));
  EXPECT_EQ(child.wait(seconds(20))->code, 0);
  EXPECT_TRUE(gone_within(grandchild, seconds(20)));
}

TEST_F(Child, DiesWithItsParentEvenByKill) {
  ChildProcess driver = started({"nested"});
  const pid_t host = std::stoi(read_reply(driver, true));
  ASSERT_GT(process_memory(host).resident_bytes, 0);
  ASSERT_EQ(::kill(driver.pid(), SIGKILL), 0);  // the driver alone, not its group
  EXPECT_TRUE(gone_within(host, seconds(20)));
}

TEST_F(Child, TakesItsGroupAlongWhenItsOwnerIsKilled) {
  ChildProcess driver = started({"nested", "fork-and-stay"});
  const pid_t grandchild = std::stoi(read_reply(driver, true));
  ASSERT_GT(process_memory(grandchild).resident_bytes, 0);
  ASSERT_EQ(::kill(driver.pid(), SIGKILL), 0);  // the driver alone, not its group
  EXPECT_TRUE(gone_within(grandchild, seconds(20)));
}

TEST_F(Child, KeepsTheEndsOfALogThatIsTooLong) {
  folder_.write("log", "beginning\n" + std::string(kMostLogBytes, 'x') + "\nbefore\n");
  ASSERT_TRUE(started({"print"}).wait(seconds(20)).has_value());
  const std::string log = *read_file(folder_ / "log");
  EXPECT_LE(std::ssize(log), 2 * kKeptLogBytes + 100);
  EXPECT_TRUE(log.starts_with("beginning\n"));
  EXPECT_THAT(log, HasSubstr(" bytes of output are left out here]\n"));
  EXPECT_TRUE(log.ends_with("\nbefore\nto stdout\nto stderr\n"));
}

TEST_F(Child, ShowsItsMemoryWhileItRuns) {
  ChildProcess child = started({"allocate"});
  char byte = 0;
  ASSERT_EQ(::read(child.reply_fd(), &byte, 1), 1);
  constexpr int64_t kAllocated = int64_t{64} << 20;
  const ProcessMemory memory = child.memory();
  EXPECT_GE(memory.anonymous_bytes, kAllocated);
  EXPECT_GE(memory.resident_bytes, memory.anonymous_bytes);
  EXPECT_GE(memory.peak_bytes, memory.resident_bytes);
  child.kill();
  EXPECT_EQ(child.memory().resident_bytes, 0);
}

TEST(ResetOwnPeakMemory, BringsThePeakDownToWhatIsResident) {
  // Mapped and unmapped by hand: an allocator may keep what is freed.
  constexpr size_t kBytes = size_t{64} << 20;
  void* const block =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::memset(block, 1, kBytes);
  ASSERT_EQ(::munmap(block, kBytes), 0);
  const ProcessMemory before = process_memory(::getpid());
  if (!reset_own_peak_memory()) GTEST_SKIP() << "/proc/self/clear_refs is not permitted here";
  const ProcessMemory after = process_memory(::getpid());
  EXPECT_LT(after.peak_bytes, before.peak_bytes - (int64_t{32} << 20));
}

}  // namespace
}  // namespace qfs
