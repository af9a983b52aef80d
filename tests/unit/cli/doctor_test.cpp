// What doctor says about a driver, from the text that the driver's file holds.
#include <gtest/gtest.h>

#include "harness/cli/doctor_checks.h"

namespace qfs::cli {
namespace {

// Two forms that NVIDIA's kernel modules write (proprietary and open).
constexpr const char* kProprietary =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n"
    "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n";
constexpr const char* kOpen =
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (root@x)\n";

TEST(NvidiaDriver, VersionIsReadFromBothForms) {
  EXPECT_EQ(nvidia_driver_version(kProprietary), "535.183.01");
  EXPECT_EQ(nvidia_driver_version(kOpen), "580.65.06");
}

TEST(NvidiaDriver, NoFileIsNoDriver) {
  EXPECT_EQ(nvidia_driver_version(""), std::nullopt);
  EXPECT_EQ(nvidia_driver_version("something 1.2.3"), std::nullopt);
}

TEST(NvidiaDriver, OlderThan580CannotRunCuda13) {
  EXPECT_EQ(check_nvidia_driver("579.99.01").grade, Grade::problem);
  EXPECT_EQ(check_nvidia_driver("580.65.06").grade, Grade::ok);
  EXPECT_NE(check_nvidia_driver("535.183.01").text.find("needs 580"), std::string::npos);
}

}  // namespace
}  // namespace qfs::cli
