// Failpoints, in children: the variable is read once a process.
#include "harness/core/failpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

#include "harness/core/child_process.h"
#include "harness/core/files.h"
#include "tests/support/temporary_folder.h"

namespace qfs {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;

struct Outcome {
  ChildExit exit;
  std::string log;
};

/// Passes the failpoint "test.point" five times, printing a line after each ("fired" or "passed").
Outcome pass_five_times(const std::string& setting) {
  const TemporaryFolder folder;
  ChildOptions options;
  options.command = {executable_directory() + "/core_child", "failpoints"};
  options.environment = {{"QFS_FAILPOINT", setting}};
  options.log_path = folder / "log";
  Result<ChildProcess> child = ChildProcess::start(options);
  if (!child) return {{}, child.error().message};
  const std::optional<ChildExit> exit = child->wait(std::chrono::seconds(20));
  return {exit.value_or(ChildExit{-1, -1}), *read_file(options.log_path)};
}

TEST(Failpoint, KillsAtTheCountedPassing) {
  const Outcome outcome = pass_five_times("test.point:3");
  EXPECT_EQ(outcome.exit.signal, SIGKILL);
  EXPECT_EQ(outcome.log, "passed\npassed\n");
}

TEST(Failpoint, ReportsAnErrorAtTheCountedPassingOnly) {
  const Outcome outcome = pass_five_times("test.point:error:2");
  EXPECT_EQ(outcome.exit.signal, 0);
  EXPECT_EQ(outcome.log, "passed\nfired\npassed\npassed\npassed\n");
}

TEST(Failpoint, InterruptsAtTheCountedPassing) {
  const Outcome outcome = pass_five_times("test.point:interrupt:2");
  EXPECT_EQ(outcome.exit.signal, SIGINT);
  EXPECT_EQ(outcome.log, "passed\n");
}

TEST(Failpoint, TakesSeveralSettings) {
  const Outcome outcome = pass_five_times("test.point:error:1,other:1,test.point:4");
  EXPECT_EQ(outcome.exit.signal, SIGKILL);
  EXPECT_EQ(outcome.log, "fired\npassed\npassed\n");
}

TEST(Failpoint, DoesNothingForOtherNamesOrWithoutSetting) {
  EXPECT_EQ(pass_five_times("test.poin:1").log, "passed\npassed\npassed\npassed\npassed\n");
  EXPECT_EQ(pass_five_times("").exit.code, 0);
}

TEST(Failpoint, AbortsOnASettingThatIsNone) {
  for (const char* setting : {"test.point", "test.point:0", "test.point:x", ":1", ":error:1"}) {
    const Outcome outcome = pass_five_times(setting);
    EXPECT_EQ(outcome.exit.signal, SIGABRT) << setting;
    EXPECT_THAT(outcome.log, HasSubstr("QFS_FAILPOINT")) << setting;
  }
}

}  // namespace
}  // namespace qfs
