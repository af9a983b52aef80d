// read_file, write_file_atomic and make_directories.
#include "harness/core/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>

#include "harness/core/system_error.h"
#include "tests/support/temporary_folder.h"

namespace qfs {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;

size_t entries_of(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator entries(folder.path());
  return static_cast<size_t>(std::distance(begin(entries), end(entries)));
}

TEST(ReadFile, ReturnsTheBytesAsTheyAre) {
  const TemporaryFolder folder;
  const std::string bytes("a\0b\r\n\xFF", 6);
  EXPECT_EQ(*read_file(folder.write("x", bytes)), bytes);
  EXPECT_EQ(*read_file(folder.write("empty", "")), "");
}

TEST(ReadFile, ReadsFilesThatAnnounceNoSize) {
  EXPECT_THAT(*read_file("/proc/self/status"), HasSubstr("VmRSS"));
}

TEST(ReadFile, StopsAtTheLimit) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x", "12345");
  EXPECT_EQ(*read_file(path, 5), "12345");
  EXPECT_EQ(read_file(path, 4).error().kind, ErrorKind::data);
  EXPECT_THAT(read_file(path, 4).error().message, HasSubstr("allowed 4 bytes"));
  EXPECT_EQ(read_file("/dev/zero", 1000).error().kind, ErrorKind::data);
}

TEST(ReadFile, NamesThePathAndTheReason) {
  const TemporaryFolder folder;
  const Error absent = read_file(folder / "absent").error();
  EXPECT_EQ(absent.kind, ErrorKind::not_found);
  EXPECT_EQ(absent.message, "cannot read '" + (folder / "absent") + "': No such file or directory");
  const Error directory = read_file(folder.path()).error();
  EXPECT_EQ(directory.kind, ErrorKind::data);
  EXPECT_THAT(directory.message, HasSubstr("Is a directory"));
}

TEST(WriteFileAtomic, ReplacesTheOldContentAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x", "old and longer");
  ASSERT_TRUE(write_file_atomic(path, "new").ok());
  EXPECT_EQ(*read_file(path), "new");
  EXPECT_EQ(entries_of(folder), 1U);
}

TEST(WriteFileAtomic, UsesTheModeOfAnOrdinaryFile) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  const Status written = write_file_atomic(folder / "x", "");
  ::umask(before);
  ASSERT_TRUE(written.ok());
  struct stat facts {};
  ASSERT_EQ(::stat((folder / "x").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0640U);
}

TEST(WriteFileAtomic, KeepsTheOldFileWhenWritingFails) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status written = write_file_atomic(path, std::string(5000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(written.error().message, HasSubstr(path + "': File too large"));
  EXPECT_EQ(*read_file(path), "old");
  EXPECT_EQ(entries_of(folder), 1U);
}

TEST(WriteFileAtomic, SaysThatTheFolderIsMissing) {
  const TemporaryFolder folder;
  const Status written = write_file_atomic(folder / "no/x", "");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind, ErrorKind::not_found);
  EXPECT_THAT(written.error().message, HasSubstr("its folder does not exist"));
}

TEST(WriteFailure, SaysWhatToDoAboutAFullDisk) {
  const Error full = write_failure(ENOSPC, "/data/store.sqlite");
  EXPECT_EQ(full.kind, ErrorKind::unavailable);
  EXPECT_EQ(full.message,
            "cannot write '/data/store.sqlite': the disk is full; free some space and "
            "run the command again");
  EXPECT_THAT(write_failure(EROFS, "x").message, HasSubstr("read-only"));
  EXPECT_THAT(write_failure(EDQUOT, "x").message, HasSubstr("quota"));
}

TEST(MakeDirectories, MakesParentsAndAcceptsWhatExists) {
  const TemporaryFolder folder;
  EXPECT_TRUE(make_directories(folder / "a/b/c").ok());
  EXPECT_TRUE(make_directories(folder / "a/b/c").ok());
  EXPECT_TRUE(make_directories(folder / "a/b/c/").ok());
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b/c"));
}

TEST(MakeDirectories, FailsOnAFileOfThatName) {
  const TemporaryFolder folder;
  folder.write("file", "");
  EXPECT_FALSE(make_directories(folder / "file").ok());
  EXPECT_FALSE(make_directories(folder / "file/below").ok());
}

}  // namespace
}  // namespace qfs
