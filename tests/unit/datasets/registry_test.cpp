// The registry: what it pins and what it refuses.
#include "datasets/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace qfs::datasets {
namespace {

using ::testing::HasSubstr;

std::string registry_with(const std::string& path, const std::string& digest = std::string(64, 'a'),
                          const std::string& url = "https://x.org/") {
  return R"({"sets": [{"name": "s", "licence": "MIT", "source": "x", "base_url": ")" + url +
         R"(", "files": [{"path": ")" + path + R"(", "bytes": 3, "sha256": ")" + digest +
         R"("}]}]})";
}

Error error_of(const std::string& text) {
  auto entries = parse_registry(text, "r.json");
  EXPECT_FALSE(entries.ok());
  return entries ? Error{} : entries.error();
}

TEST(Registry, TheProgramsOwnPinsQmsumAndSquality) {
  Result<RegistryEntry> qmsum = registry_entry("datasets/registry.json", "qmsum");
  ASSERT_TRUE(qmsum.ok()) << qmsum.error().to_string();
  // 162 training meetings, val, test and the licence.
  EXPECT_EQ(qmsum->files.size(), 165u);
  EXPECT_THAT(qmsum->base_url, HasSubstr("/83d7768c1f2b4dfeb091385d3dc7e239b8e5bb7e/"));
  Result<RegistryEntry> squality = registry_entry("datasets/registry.json", "squality");
  ASSERT_TRUE(squality.ok());
  EXPECT_EQ(squality->files.size(), 5u);
  EXPECT_THAT(squality->base_url, HasSubstr("/dc08d4f574639d773bc64ef3ab3527043108fb4e/"));
}

TEST(Registry, AnUnknownNameSuggestsTheNearest) {
  Result<RegistryEntry> entry = registry_entry("datasets/registry.json", "qmsm");
  ASSERT_FALSE(entry.ok());
  EXPECT_THAT(entry.error().message, HasSubstr("did you mean 'qmsum'?"));
}

TEST(Registry, PathsThatLeaveTheFolderAreRefused) {
  for (const char* path :
       {"../x", "/etc/passwd", "a/../../x", "a//b", ".", "", "a/", "a b", "~x", "a\\\\b"}) {
    EXPECT_EQ(error_of(registry_with(path)).where, "r.json#/sets/0/files/0/path") << path;
  }
  EXPECT_TRUE(parse_registry(registry_with("data/v1-3/a_b.jsonl"), "r.json").ok());
}

TEST(Registry, DigestsAndAddressesAreChecked) {
  EXPECT_EQ(error_of(registry_with("a", "ABC")).where, "r.json#/sets/0/files/0/sha256");
  EXPECT_EQ(error_of(registry_with("a", std::string(64, 'a'), "http://x.org/")).where,
            "r.json#/sets/0/base_url");
  EXPECT_THAT(error_of("{\"sets\": [{}]}").message, HasSubstr("missing field 'name'"));
  EXPECT_EQ(error_of("{\"sets\": [").kind, ErrorKind::data);
}

}  // namespace
}  // namespace qfs::datasets
