// Which variables a child inherits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/core/child_process.h"
#include "tests/support/environment_variable.h"

namespace qfs {
namespace {

using test::EnvironmentVariable;

TEST(AllowedEnvironment, PassesOnWhatTheListNames) {
  for (const char* name :
       {"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME", "QFS_CACHE_DIR",
        "OMP_NUM_THREADS", "GOMP_SPINCOUNT", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES",
        "PYTORCH_CUDA_ALLOC_CONF", "PYTHONPATH", "VIRTUAL_ENV"}) {
    const EnvironmentVariable set(name, "a=b value");
    EXPECT_EQ(allowed_environment()[name], "a=b value") << name;
  }
}

TEST(AllowedEnvironment, HoldsBackEverythingElse) {
  for (const char* name : {"AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "LD_PRELOAD", "PATHS",
                           "MY_QFS_TOKEN", "SSH_AUTH_SOCK"}) {
    const EnvironmentVariable set(name, "value");
    EXPECT_EQ(allowed_environment().count(name), 0U) << name;
  }
}

TEST(AllowedEnvironment, HoldsBackTheDescriptorsOfOurOwnSession) {
  const EnvironmentVariable request("QFS_REQUEST_FD", "7");
  const EnvironmentVariable reply("QFS_REPLY_FD", "8");
  EXPECT_EQ(allowed_environment().count("QFS_REQUEST_FD"), 0U);
  EXPECT_EQ(allowed_environment().count("QFS_REPLY_FD"), 0U);
}

}  // namespace
}  // namespace qfs
