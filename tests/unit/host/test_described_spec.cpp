#include <gtest/gtest.h>

#include "harness/host/described_spec.h"

namespace qfs::host {
namespace {

Description described(std::string name) {
  Description description;
  description.name = std::move(name);
  description.version = 3;
  return description;
}

TEST(DescribedSpec, CarriesTheDeclarationOfTheProgram) {
  Description description = described("my_method");
  description.references = true;
  description.params = {{.name = "k", .type = ParamType::integer}};
  auto spec = make_described_spec(description);
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ((*spec)->name(), "my_method");
  EXPECT_EQ((*spec)->version(), 3);
  EXPECT_TRUE((*spec)->needs({}).external);
  EXPECT_TRUE((*spec)->needs({}).references);
  EXPECT_FALSE((*spec)->needs({}).evidence);
  EXPECT_EQ((*spec)->params().at(0).name, "k");
}

TEST(DescribedSpec, RejectsNamesThatNoTableOrSweepCouldHold) {
  for (const char* name : {"", "My", "a-b", "1a", "a b", "é"}) {
    EXPECT_FALSE(make_described_spec(described(name)).ok()) << name;
  }
}

TEST(DescribedSpec, RejectsParametersDeclaredTwiceOrWithAnEmptyRange) {
  Description twice = described("m");
  twice.params = {{.name = "k"}, {.name = "k"}};
  EXPECT_FALSE(make_described_spec(twice).ok());
  Description empty_range = described("m");
  empty_range.params = {{.name = "k", .minimum = 2, .maximum = 1}};
  EXPECT_FALSE(make_described_spec(empty_range).ok());
}

}  // namespace
}  // namespace qfs::host
