// Exit codes are part of the interface: scripts and CI depend on the numbers.
#include "harness/cli/exit_codes.h"

#include <gtest/gtest.h>

namespace qfs::cli {
namespace {

int code(ErrorKind kind) { return static_cast<int>(exit_code(kind)); }

TEST(ExitCodes, EveryKindOfErrorHasItsDocumentedCode) {
  EXPECT_EQ(code(ErrorKind::invalid_argument), 2);
  EXPECT_EQ(code(ErrorKind::not_found), 2);
  EXPECT_EQ(code(ErrorKind::store), 4);
  EXPECT_EQ(code(ErrorKind::data), 5);
  EXPECT_EQ(code(ErrorKind::unavailable), 5);
  EXPECT_EQ(code(ErrorKind::out_of_memory), 5);
  EXPECT_EQ(code(ErrorKind::timeout), 5);
  EXPECT_EQ(code(ErrorKind::internal), 70);
}

TEST(ExitCodes, SignalsAreThoseOfShells) {
  EXPECT_EQ(static_cast<int>(exit_code_of_signal(SIGHUP)), 129);
  EXPECT_EQ(static_cast<int>(exit_code_of_signal(SIGINT)), 130);
  EXPECT_EQ(static_cast<int>(exit_code_of_signal(SIGTERM)), 143);
}

}  // namespace
}  // namespace qfs::cli
