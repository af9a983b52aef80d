// read_file, open_input, write_file, create_file and make_directories.
#include "harness/core/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <thread>
#include <vector>

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

TEST(WriteFile, ReplacesTheOldContentAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x", "old and longer");
  ASSERT_TRUE(write_file(path, "new").ok());
  EXPECT_EQ(*read_file(path), "new");
  EXPECT_EQ(entries_of(folder), 1U);
}

TEST(WriteFile, WhatEndedWritersLeftCanBeRemoved) {
  const TemporaryFolder folder;
  folder.write(".qfs-tmp-00000000000000ff", "ha");
  const std::string kept = folder.write("qfs-tmp-1", "whole");
  remove_unfinished(folder.path());
  EXPECT_EQ(entries_of(folder), 1U);
  EXPECT_EQ(*read_file(kept), "whole");
  remove_unfinished(folder / "absent");
}

TEST(WriteFile, PiecesAreOneFile) {
  const TemporaryFolder folder;
  const std::vector<std::string_view> pieces = {"one, ", "", "two"};
  ASSERT_TRUE(write_file(folder / "x", pieces).ok());
  EXPECT_EQ(*read_file(folder / "x"), "one, two");
}

TEST(WriteFile, UsesTheModeOfAnOrdinaryFile) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(027);
  const Status written = write_file(folder / "x", "");
  ::umask(before);
  ASSERT_TRUE(written.ok());
  struct stat facts {};
  ASSERT_EQ(::stat((folder / "x").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0640U);
}

TEST(WriteFile, KeepsTheOldFileWhenWritingFails) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status written = write_file(path, std::string(5000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(written.error().message, HasSubstr(path + "': File too large"));
  EXPECT_EQ(*read_file(path), "old");
  EXPECT_EQ(entries_of(folder), 1U);
}

/// What lies at a path itself, links not followed.
mode_t kind_of(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 ? facts.st_mode & S_IFMT : 0;
}

TEST(WriteFile, KeepsTheModeOfTheFileThatIsThere) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  ASSERT_TRUE(write_file(path, "new").ok());
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0600U);
}

TEST(WriteFile, FollowsLinksAndLeavesThem) {
  const TemporaryFolder folder;
  const std::string target = folder.write("target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  std::filesystem::create_symlink(folder / "link", folder / "chain");
  ASSERT_TRUE(write_file(folder / "chain", "new").ok());
  EXPECT_EQ(*read_file(target), "new");
  EXPECT_EQ(kind_of(folder / "link"), mode_t{S_IFLNK});
  EXPECT_EQ(kind_of(folder / "chain"), mode_t{S_IFLNK});
  std::filesystem::create_symlink("not-there-yet", folder / "dangling");
  ASSERT_TRUE(write_file(folder / "dangling", "made").ok());
  EXPECT_EQ(*read_file(folder / "not-there-yet"), "made");
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_FALSE(write_file(folder / "loop", "").ok());
}

TEST(CreateFile, MakesAFileThatIsNotThere) {
  const TemporaryFolder folder;
  EXPECT_TRUE(*create_file(folder / "x", "first"));
  EXPECT_FALSE(*create_file(folder / "x", "second"));
  EXPECT_EQ(*read_file(folder / "x"), "first");
  EXPECT_EQ(entries_of(folder), 1U) << "nothing is left beside it";
  EXPECT_FALSE(create_file(folder / "absent/x", "").ok());
}

TEST(CreateFile, OneOfManyMakesIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "x";
  std::vector<std::future<bool>> made;
  for (int i = 0; i < 8; ++i) {
    made.push_back(std::async(std::launch::async, [&, i] {
      return *create_file(path, std::string(1 << 16, static_cast<char>('a' + i)));
    }));
  }
  int64_t makers = 0;
  for (std::future<bool>& one : made) makers += one.get() ? 1 : 0;
  EXPECT_EQ(makers, 1);
  const std::string text = *read_file(path);
  EXPECT_EQ(text, std::string(1 << 16, text.front()));
}

TEST(WriteFile, WritesToAFifoOnceSomebodyReadsIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  auto reader = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return *read_file(path);
  });
  EXPECT_TRUE(write_file(path, "bytes").ok());
  EXPECT_EQ(reader.get(), "bytes");
  EXPECT_EQ(kind_of(path), mode_t{S_IFIFO});
}

/// A device of one's own, never that of /dev: where this fails, it would be replaced.
bool make_device(const std::string& path, unsigned minor) {
  return ::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, minor)) == 0 &&
         UniqueFd(::open(path.c_str(), O_WRONLY | O_CLOEXEC)).valid();
}

TEST(WriteFile, WritesToADeviceAndLeavesIt) {
  const TemporaryFolder folder;
  const std::string path = folder / "null";
  if (!make_device(path, 3)) GTEST_SKIP() << "devices cannot be made here";
  const Status written = write_file(path, "bytes");
  EXPECT_TRUE(written.ok()) << written.error().to_string();
  EXPECT_EQ(kind_of(path), mode_t{S_IFCHR});
  EXPECT_EQ(entries_of(folder), 1U);
}

TEST(WriteFile, AFullDeviceIsAnError) {
  const TemporaryFolder folder;
  const std::string path = folder / "full";
  if (!make_device(path, 7)) GTEST_SKIP() << "devices cannot be made here";
  const Status written = write_file(path, "bytes");
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("the disk is full"));
  EXPECT_EQ(kind_of(path), mode_t{S_IFCHR});
}

TEST(WriteFile, WritesToTheDescriptorThatAPathNames) {
  const TemporaryFolder folder;
  const std::string path = folder.write("log", "before ");
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(fd.get()), folder / "link");
  ASSERT_TRUE(write_file(folder / "link", "after").ok());
  EXPECT_EQ(*read_file(path), "before after");
}

TEST(WriteFile, RefusesFoldersAndFilesThatMayNotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_FALSE(write_file(folder.path(), "").ok());
  const std::string path = folder.write("x", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0400), 0);
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  EXPECT_FALSE(write_file(path, "new").ok());
  EXPECT_EQ(*read_file(path), "old");
}

TEST(OpenInput, ReadsAPipeOnceItHasBytes) {
  const TemporaryFolder folder;
  const std::string path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto writer = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return write_file(path, "bytes").ok();
  });
  EXPECT_EQ(*read_file(path), "bytes");
}

TEST(OpenInput, SaysWhatItWaitsFor) {
  const TemporaryFolder folder;
  const std::string path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  testing::internal::CaptureStderr();
  const auto writer = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    return write_file(path, "bytes").ok();
  });
  EXPECT_EQ(*read_file(path), "bytes");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("waiting for input from '" + path + "'"));
}

TEST(OpenInput, RefusesByNameWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(open_input(path, InputKind::regular).error().message,
              HasSubstr(path + "': it is a FIFO (pipe), and a regular file is needed"));
  EXPECT_THAT(open_input("/dev/zero").error().message, HasSubstr("it is a device"));
  EXPECT_THAT(open_input(folder.path()).error().message, HasSubstr("Is a directory"));
  EXPECT_EQ(*read_file("/dev/null"), "");
}

TEST(WriteFile, SaysThatTheFolderIsMissing) {
  const TemporaryFolder folder;
  const Status written = write_file(folder / "no/x", "");
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
