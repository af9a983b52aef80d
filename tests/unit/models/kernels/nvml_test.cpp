// What the driver counts is read from a library that may be absent, incomplete or refuse; each of
// these is an error that says so. The libraries are stand-ins (support/fake_nvml.cpp).
#include "methods/models/kernels/nvml.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/environment_variable.h"

namespace qfs::kernels {
namespace {

using ::testing::HasSubstr;

constexpr const char* kBus = "00000000:1B:00.0";
constexpr const char* kComplete = QFS_FAKE_NVML_LIBRARY;
constexpr const char* kIncomplete = QFS_INCOMPLETE_NVML_LIBRARY;

std::string refusal(const std::string& bus, const std::string& library) {
  const auto device = NvmlDevice::open(bus, library);
  if (device.ok()) return "opened";
  EXPECT_EQ(device.error().kind, ErrorKind::unavailable);
  return device.error().message;
}

TEST(Nvml, used_bytes_are_those_of_the_device_at_the_bus_id) {
  const auto device = NvmlDevice::open(kBus, kComplete);
  ASSERT_TRUE(device.ok()) << device.error().to_string();
  const auto used = (*device)->used_bytes();
  ASSERT_TRUE(used.ok()) << used.error().to_string();
  EXPECT_EQ(*used, int64_t{5} << 30);
}

TEST(Nvml, energy_is_what_the_device_has_used_and_may_not_be_counted) {
  const auto device = NvmlDevice::open(kBus, kComplete);
  ASSERT_TRUE(device.ok()) << device.error().to_string();
  const auto used = (*device)->energy_millijoules();
  ASSERT_TRUE(used.ok()) << used.error().to_string();
  EXPECT_EQ(*used, 123'456'789'012);
  const test::EnvironmentVariable failing("QFS_FAKE_NVML", "energy:3");
  const auto refused = (*device)->energy_millijoules();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "nvmlDeviceGetTotalEnergyConsumption: Not Supported (3)");
}

TEST(Nvml, an_absent_library_is_unavailable_by_name) {
  EXPECT_THAT(refusal(kBus, "libqfs-no-such-nvml.so.1"), HasSubstr("libqfs-no-such-nvml.so.1"));
}

TEST(Nvml, a_missing_function_is_named) {
  EXPECT_THAT(refusal(kBus, kIncomplete), HasSubstr("has no nvmlDeviceGetMemoryInfo"));
}

TEST(Nvml, error_codes_come_with_function_words_and_number) {
  {
    const test::EnvironmentVariable failing("QFS_FAKE_NVML", "init:9");
    EXPECT_EQ(refusal(kBus, kComplete), "nvmlInit_v2: Some Error (9)");
  }
  EXPECT_EQ(refusal("00000000:FF:00.0", kComplete),
            "nvmlDeviceGetHandleByPciBusId_v2: Some Error (6)");
  const auto device = NvmlDevice::open(kBus, kComplete);
  ASSERT_TRUE(device.ok());
  const test::EnvironmentVariable failing("QFS_FAKE_NVML", "memory:3");
  const auto used = (*device)->used_bytes();
  ASSERT_FALSE(used.ok());
  EXPECT_EQ(used.error().message, "nvmlDeviceGetMemoryInfo: Not Supported (3)");
}

TEST(Nvml, what_was_initialised_is_shut_down_even_after_a_refusal) {
  void* library = dlopen(kComplete, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  const int& open = *static_cast<const int*>(dlsym(library, "fake_nvml_open"));
  const int before = open;
  refusal("00000000:FF:00.0", kComplete);
  EXPECT_EQ(open, before);
  {
    const auto device = NvmlDevice::open(kBus, kComplete);
    EXPECT_EQ(open, before + 1);
  }
  EXPECT_EQ(open, before);
  dlclose(library);
}

}  // namespace
}  // namespace qfs::kernels
