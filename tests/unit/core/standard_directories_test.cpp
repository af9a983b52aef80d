// Where the cache, the program's data and the executable are looked for.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "harness/core/child_process.h"
#include "harness/core/files.h"
#include "tests/support/environment_variable.h"
#include "tests/support/temporary_folder.h"

namespace qfs {
namespace {

using test::EnvironmentVariable;
using test::TemporaryFolder;

TEST(CacheDirectory, PrefersOurVariableThenXdgThenHome) {
  const EnvironmentVariable home("HOME", "/people/someone");
  const EnvironmentVariable no_xdg("XDG_CACHE_HOME", std::nullopt);
  const EnvironmentVariable no_own("QFS_CACHE_DIR", std::nullopt);
  EXPECT_EQ(cache_directory(), "/people/someone/.cache/qfs-bench");
  const EnvironmentVariable xdg("XDG_CACHE_HOME", "/var/xdg");
  EXPECT_EQ(cache_directory(), "/var/xdg/qfs-bench");
  const EnvironmentVariable own("QFS_CACHE_DIR", "/var/own");
  EXPECT_EQ(cache_directory(), "/var/own");
}

TEST(CacheDirectory, IgnoresARelativeXdgPath) {
  const EnvironmentVariable own("QFS_CACHE_DIR", std::nullopt);
  const EnvironmentVariable home("HOME", "/people/someone");
  const EnvironmentVariable xdg("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(cache_directory(), "/people/someone/.cache/qfs-bench");
}

TEST(ProgramDataDirectory, IsTheVariableElseTheSourceTreeForABuildTree) {
  const EnvironmentVariable unset("QFS_DATA_DIR", std::nullopt);
  EXPECT_TRUE(std::filesystem::exists(program_data_directory() + "/harness/core/files.h"));
  const EnvironmentVariable own("QFS_DATA_DIR", "/var/data");
  EXPECT_EQ(program_data_directory(), "/var/data");
}

TEST(ProgramDataDirectory, IsBesideAnInstalledProgram) {
  const TemporaryFolder prefix;
  std::filesystem::create_directories(prefix / "bin");
  std::filesystem::create_directories(prefix / "share/qfs-bench");
  std::filesystem::copy_file(executable_directory() + "/core_child", prefix / "bin/program");
  ChildOptions options;
  options.command = {prefix / "bin/program", "data-directory"};
  options.log_path = prefix / "log";
  Result<ChildProcess> program = ChildProcess::start(options);
  ASSERT_TRUE(program.ok()) << program.error().message;
  ASSERT_TRUE(program->wait(std::chrono::seconds(20)).has_value());
  EXPECT_EQ(*read_file(prefix / "log"), prefix / "share/qfs-bench");
}

TEST(ExecutableDirectory, HoldsThisProgram) {
  EXPECT_TRUE(std::filesystem::exists(executable_directory() + "/core_unit_test"));
}

}  // namespace
}  // namespace qfs
