// SHA-256 and the ids made with it.
#include "harness/core/identity.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "tests/support/environment_variable.h"
#include "tests/support/temporary_folder.h"

namespace qfs {
namespace {

using test::EnvironmentVariable;
using test::TemporaryFolder;
using ::testing::HasSubstr;

// FIPS 180-4 examples: "", "abc".
constexpr const char* kEmptyDigest =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kAbcDigest =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, AgreesWithTheStandardsExamples) {
  EXPECT_EQ(sha256_hex(""), kEmptyDigest);
  EXPECT_EQ(sha256_hex("abc"), kAbcDigest);
  // FIPS 180-4: one million times 'a'.
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesArrive) {
  Sha256 hash;
  hash.update("a").update("").update("bc");
  EXPECT_EQ(hash.hex(), kAbcDigest);
}

TEST(Sha256, HashesAFileLargerThanABlock) {
  const TemporaryFolder folder;
  const std::string bytes((size_t{1} << 20) + 12345, 'x');
  EXPECT_EQ(*sha256_file(folder.write("large", bytes)), sha256_hex(bytes));
}

TEST(Sha256, NamesAFileThatCannotBeRead) {
  const TemporaryFolder folder;
  EXPECT_EQ(sha256_file(folder / "absent").error().kind, ErrorKind::not_found);
  EXPECT_THAT(sha256_file(folder.path()).error().message, HasSubstr(folder.path()));
}

class CachedDigest : public ::testing::Test {
 protected:
  /// Sets the modification time back, as of a file that has settled.
  static void age(const std::string& path, time_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  size_t remembered() const {
    std::error_code error;
    const auto entries = std::filesystem::directory_iterator(folder_ / "cache/digests", error);
    return error ? 0 : static_cast<size_t>(std::distance(begin(entries), end(entries)));
  }

  TemporaryFolder folder_;
  EnvironmentVariable cache_{"QFS_CACHE_DIR", folder_ / "cache"};
};

TEST_F(CachedDigest, IsReadFromTheCacheTheSecondTime) {
  const std::string path = folder_.write("weights", "abc");
  age(path, 1'000'000'000);
  EXPECT_EQ(*sha256_file_cached(path), kAbcDigest);
  ASSERT_EQ(remembered(), 1U);
  const auto entry = *std::filesystem::directory_iterator(folder_ / "cache/digests");
  ASSERT_TRUE(write_file(entry.path().string(), kEmptyDigest).ok());
  EXPECT_EQ(*sha256_file_cached(path), kEmptyDigest);  // shows that the cache was asked
}

TEST_F(CachedDigest, IsMadeAgainWhenTheFileChangesEvenWithSizeAndTimeSetBack) {
  const std::string path = folder_.write("weights", "xyz");
  age(path, 1'000'000'000);
  EXPECT_EQ(*sha256_file_cached(path), sha256_hex("xyz"));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a tick of the file system's clock
  folder_.write("weights", "abc");
  age(path, 1'000'000'000);
  EXPECT_EQ(*sha256_file_cached(path), kAbcDigest);
}

TEST_F(CachedDigest, IsNotRememberedForAFileWrittenJustNow) {
  EXPECT_EQ(*sha256_file_cached(folder_.write("weights", "abc")), kAbcDigest);
  EXPECT_EQ(remembered(), 0U);
}

TEST_F(CachedDigest, IgnoresADamagedEntryAndAnUnusableCache) {
  const std::string path = folder_.write("weights", "abc");
  age(path, 1'000'000'000);
  ASSERT_TRUE(sha256_file_cached(path).ok());
  const auto entry = *std::filesystem::directory_iterator(folder_ / "cache/digests");
  ASSERT_TRUE(write_file(entry.path().string(), "not a digest").ok());
  EXPECT_EQ(*sha256_file_cached(path), kAbcDigest);
  const EnvironmentVariable blocked("QFS_CACHE_DIR", folder_.write("file", "") + "/below");
  EXPECT_EQ(*sha256_file_cached(path), kAbcDigest);
}

// Golden ids of identity version 1: tests/conformance/core/reference_values.py. A change here
// re-keys every store and needs a new kIdentityVersion.
TEST(Identity, GoldenIdsOfVersion1) {
  ASSERT_EQ(kIdentityVersion, 1);
  EXPECT_EQ(make_dataset_id(Json{"{}"}).hex(),
            "e025896dd2a023fca42001377cd46abd8419bcd74588a6328372f0dc741cd03e");
  EXPECT_EQ(make_numerics_id(Json{"{}"}).hex(),
            "2eaa0c896f20eade2249593b2dabc3f0be9e5d9c38e1c95c91f0407117ad2f6e");
  EXPECT_EQ(make_score_id(Json{"{}"}).hex(),
            "e69d5126b4108939764550f440b8110644f54b82fcc0f076e1555169c6a89b2e");
  const Json cell{
      "{\"dataset\":\"" + std::string(64, 'd') +
      "\",\"layers\":[],\"method\":\"lead\",\"params\":{\"max_words\":100,\"ratio\":\"0.1\"},"
      "\"query\":\"café 日本\\n\\\"\\\\\\u0001\x7F\",\"seed\":0,\"version\":1}"};
  EXPECT_EQ(make_cell_id(cell).hex(),
            "ca9e16d7d3240e7b2ed3f82160f2e8c61bb1098840a3b8b220034347be5d1abb");
  EXPECT_EQ(make_cell_id(cell).short_hex(), "ca9e16d7d324");
}

TEST(Identity, KindsOfIdsDifferForEqualText) {
  EXPECT_NE(make_dataset_id(Json{}).hex(), make_cell_id(Json{}).hex());
}

}  // namespace
}  // namespace qfs
