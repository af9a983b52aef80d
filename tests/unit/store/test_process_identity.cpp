// Who a process is: a recycled pid, a zombie or another boot is not the process that wrote an
// attempt.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/store/process_identity.h"

namespace qfs::store {
namespace {

TEST(ProcessIdentity, ThisProcessRuns) {
  EXPECT_EQ(this_process().pid, ::getpid());
  EXPECT_GT(this_process().start_ticks, 0);
  EXPECT_FALSE(this_process().boot_id.empty());
  EXPECT_TRUE(is_running(this_process()));
}

TEST(ProcessIdentity, APidThatWasGivenToAnotherProcessIsNotIt) {
  ProcessIdentity earlier = this_process();
  earlier.start_ticks -= 1;
  EXPECT_FALSE(is_running(earlier));
}

TEST(ProcessIdentity, AProcessOfAnotherBootOrMachineDoesNotRunHere) {
  ProcessIdentity elsewhere = this_process();
  elsewhere.boot_id = "00000000-0000-0000-0000-000000000000";
  EXPECT_FALSE(is_running(elsewhere));
}

TEST(ProcessIdentity, AZombieDoesNotRun) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const ProcessIdentity child = this_process();
    const bool wrote = ::write(ends[1], &child.start_ticks, sizeof child.start_ticks) > 0;
    ::_exit(wrote ? 0 : 1);
  }
  ProcessIdentity child = this_process();
  child.pid = pid;
  ASSERT_GT(::read(ends[0], &child.start_ticks, sizeof child.start_ticks), 0);
  siginfo_t ended;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(is_running(child)) << "it ended, though nobody has waited for it";
  ::waitpid(pid, nullptr, 0);
  EXPECT_FALSE(is_running(child));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace qfs::store
