// What counters below /sys/class/powercap say; the folder is a stand-in with the kernel's names.
#include "harness/run/energy.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace qfs::run {
namespace {

class Energy : public testing::Test {
 protected:
  void domain(const std::string& folder, const std::string& name, int64_t microjoules) {
    dir_.write(folder + "/name", name + "\n");
    dir_.write(folder + "/max_energy_range_uj", "262143328850\n");
    used(folder, std::to_string(microjoules));
  }
  void used(const std::string& folder, const std::string& microjoules) {
    dir_.write(folder + "/energy_uj", microjoules + "\n");
  }
  EnergyCounter counter() const { return EnergyCounter(dir_.path()); }

  test::TemporaryFolder dir_;
};

TEST_F(Energy, IsThatOfPackagesAndMemoryOnceEach) {
  domain("intel-rapl:0", "package-0", 1000);
  domain("intel-rapl:0:0", "core", 500);
  domain("intel-rapl:0:1", "dram", 70);
  domain("intel-rapl:1", "package-1", 5);
  domain("intel-rapl:2", "psys", 9000);
  domain("dtpm", "package-0", 9);
  EnergyCounter energy = counter();
  EXPECT_EQ(energy.take(), 0);
  used("intel-rapl:0", "1200");
  used("intel-rapl:0:0", "900");
  used("intel-rapl:0:1", "80");
  used("intel-rapl:1", "6");
  used("intel-rapl:2", "9900");
  EXPECT_EQ(energy.take(), 211);
  EXPECT_EQ(energy.take(), 0);
}

TEST_F(Energy, GoesOnWhereACounterBeginsAnew) {
  domain("intel-rapl:0", "package-0", 262143328850 - 99);
  EnergyCounter energy = counter();
  used("intel-rapl:0", "50");
  EXPECT_EQ(energy.take(), 150);
}

TEST_F(Energy, IsUnknownWhereNothingCountsItOrItMayNotBeRead) {
  EXPECT_EQ(counter().take(), std::nullopt);
  EXPECT_EQ(EnergyCounter(dir_ / "none").take(), std::nullopt);
  domain("intel-rapl:0", "package-0", 1000);
  domain("intel-rapl:1", "package-1", 1000);
  std::filesystem::remove(dir_ / "intel-rapl:1/energy_uj");
  EXPECT_EQ(counter().take(), std::nullopt) << "half of a machine is not its energy";
  used("intel-rapl:1", "12 µJ");
  EXPECT_EQ(counter().take(), std::nullopt);
}

TEST_F(Energy, StaysUnknownOnceACounterIsLost) {
  domain("intel-rapl:0", "package-0", 1000);
  EnergyCounter energy = counter();
  std::filesystem::remove(dir_ / "intel-rapl:0/energy_uj");
  EXPECT_EQ(energy.take(), std::nullopt);
  used("intel-rapl:0", "1500");
  EXPECT_EQ(energy.take(), std::nullopt);
}

}  // namespace
}  // namespace qfs::run
