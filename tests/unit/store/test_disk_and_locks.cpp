// Full and read-only disks, two writers: typed errors that say what to do, and nothing half stored.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "harness/store/reader.h"
#include "harness/store/store_lock.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

namespace fs = std::filesystem;
using store::Reader;
using store::Store;
using testing::HasSubstr;
using testing::StartsWith;

/// What `body` returns when it runs in a process of its own (limits, users and mounts stay there).
std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    std::string said;
    try {
      said = body();
    } catch (const std::exception& error) {
      said = std::string("exception: ") + error.what();
    }
    for (size_t done = 0; done < said.size();) {
      const ssize_t wrote = ::write(ends[1], said.data() + done, said.size() - done);
      if (wrote <= 0) break;
      done += static_cast<size_t>(wrote);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char block[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], block, sizeof block)) > 0;) {
    said.append(block, static_cast<size_t>(got));
  }
  ::close(ends[0]);
  ::waitpid(pid, nullptr, 0);
  return said;
}

/// Root ignores file permissions; nobody does not.
void become_nobody() {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
    throw std::runtime_error("cannot become nobody");
  }
}

std::string kind_and_message(const Error& error) {
  return std::string(to_string(error.kind)) + ": " + error.message;
}

class DiskAndLocks : public testing::Test {
 protected:
  /// A closed store with outputs 0 and 1 of four.
  void make_store(const std::string& path) const {
    Store store = value_of(Store::open(path));
    const OpenResult open = open_sample(store, dataset_, cell_);
    value_of(store.commit_outputs(open.result, open.attempt, sample_outputs(0, 1)));
    check(store.end_attempt(open.attempt, {}));
  }

  /// Commits outputs 2 and 3, far too large for the disk, then small ones; says how both went.
  std::string fill_disk(const std::string& path, const std::function<void()>& shrink,
                        const std::function<void()>& grow) const {
    make_store(path);
    Store store = value_of(Store::open(path));
    const OpenResult open = open_result(store, cell_);
    std::vector<store::OutputRow> unit = sample_outputs(2, 3);
    constexpr size_t kTooLarge = size_t{8} << 20;
    unit[0].prediction.text = std::string(kTooLarge, 'x');
    shrink();
    const auto failed = store.commit_outputs(open.result, open.attempt, unit);
    std::string said = failed ? "stored" : kind_and_message(failed.error());
    said += "; present " + std::to_string(value_of(store.present_ordinals(open.result)).size());
    grow();
    const auto small = store.commit_outputs(open.result, open.attempt, sample_outputs(2, 3));
    said += small ? "; then stored" : "; then " + kind_and_message(small.error());
    Reader reader = value_of(Reader::open(path));
    said += "; outputs " + std::to_string(value_of(reader.outputs(open.result)).size());
    said += "; problems " + std::to_string(value_of(reader.check_integrity()).size());
    return said;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.sqlite";
  Dataset dataset_ = sample_dataset(4);
  store::CellRow cell_ = sample_cell(dataset_);
};

constexpr const char* kFullThenFine =
    "store: the disk (or a quota or file size limit) is full; nothing of this step was stored. "
    "Make "
    "room and run the same command again; present 2; then stored; outputs 4; problems 0";

TEST_F(DiskAndLocks, AFullDiskStoresNothingOfTheUnitAndGoesOnWhenThereIsRoom) {
  const std::string said = in_child([&]() -> std::string {
    if (::unshare(CLONE_NEWNS) != 0) return "not permitted";
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=3m") != 0) {
      return "not permitted";
    }
    const std::string ballast = folder_ / "ballast";
    const auto take_the_rest = [&] {
      const int fd = ::open(ballast.c_str(), O_CREAT | O_WRONLY, 0600);
      const std::string block(4096, 'b');
      while (::write(fd, block.data(), block.size()) > 0) continue;
      ::close(fd);
    };
    return fill_disk(path_, take_the_rest, [&] { ::unlink(ballast.c_str()); });
  });
  if (said == "not permitted") GTEST_SKIP() << "needs the right to mount a tmpfs";
  EXPECT_EQ(said, kFullThenFine);
}

TEST_F(DiskAndLocks, AFileSizeLimitIsSaidSoAndNothingOfTheUnitIsStored) {
  const std::string said = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const auto limit = [](rlim_t bytes) {
      const rlimit value{bytes, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &value);
    };
    constexpr rlim_t kBytes = rlim_t{2} << 20;
    return fill_disk(
        path_, [&] { limit(kBytes); }, [&] { limit(RLIM_INFINITY); });
  });
  EXPECT_THAT(said, StartsWith("store: "));
  EXPECT_THAT(said, HasSubstr("file size limit"));
  EXPECT_THAT(said, testing::EndsWith("; present 2; then stored; outputs 4; problems 0"));
}

TEST_F(DiskAndLocks, ADiskThatIsFullFromTheStartIsSaidSo) {
  const std::string said = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    constexpr rlim_t kBytes = 8192;
    const rlimit value{kBytes, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &value);
    const auto store = Store::open(path_);
    return store ? std::string("opened") : kind_and_message(store.error());
  });
  EXPECT_THAT(said, StartsWith("store: "));
  EXPECT_THAT(said, HasSubstr("file size limit"));
}

TEST_F(DiskAndLocks, AReadOnlyFileIsSaidSo) {
  make_store(path_);
  fs::permissions(folder_.path(), fs::perms::all);
  fs::permissions(path_, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::remove(path_ + ".lock");
  const std::string said = in_child([&] {
    become_nobody();
    const auto store = Store::open(path_);
    return store ? std::string("opened") : kind_and_message(store.error());
  });
  EXPECT_THAT(said, StartsWith("store: the store is read-only; give write permission"));
}

TEST_F(DiskAndLocks, AReadOnlyFolderIsSaidSoAndCanBeRead) {
  make_store(path_);
  fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec |
                                      fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(path_, fs::perms::owner_read | fs::perms::others_read);
  const std::string said = in_child([&] {
    become_nobody();
    const auto store = Store::open(path_);
    Reader reader = value_of(Reader::open(path_));
    const size_t outputs = value_of(reader.output_hashes()).at(0).outputs.size();
    return (store ? std::string("opened") : kind_and_message(store.error())) + "; outputs " +
           std::to_string(outputs);
  });
  fs::permissions(folder_.path(), fs::perms::owner_all);
  EXPECT_THAT(said, StartsWith("store: the lock file cannot be"));
  EXPECT_THAT(said, HasSubstr("outputs 2"));
}

TEST_F(DiskAndLocks, ASecondWriterIsToldWhoTheFirstIs) {
  const Store first = value_of(Store::open(path_));
  const std::string first_pid = std::to_string(::getpid());
  const std::string said = in_child([&] {
    const auto second = Store::open(path_);
    return second ? std::string("opened") : kind_and_message(second.error());
  });
  EXPECT_THAT(said, StartsWith("store: another qfs-bench writes this store (process " + first_pid));
  EXPECT_EQ(Store::open(path_).error().kind, ErrorKind::store) << "nor twice in one process";
}

TEST_F(DiskAndLocks, WhoWatchesSeesAWriterAndDoesNotStandInItsWay) {
  EXPECT_FALSE(store::StoreLock::held(path_));
  {
    const Store writer = value_of(Store::open(path_));
    EXPECT_TRUE(store::StoreLock::held(path_));
  }
  EXPECT_FALSE(store::StoreLock::held(path_));
  EXPECT_TRUE(Store::open(path_).ok());
}

TEST_F(DiskAndLocks, AnotherNameOfTheFileIsTheSameStore) {
  const Store first = value_of(Store::open(path_));
  fs::create_symlink(path_, folder_ / "other.sqlite");
  EXPECT_FALSE(Store::open(folder_ / "other.sqlite"));
}

TEST_F(DiskAndLocks, AProgramStartedMeanwhileDoesNotInheritTheLock) {
  std::optional<Store> first = value_of(Store::open(path_));
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t program = ::fork();
  if (program == 0) {
    ::execlp("sleep", "sleep", "60", nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "returns when the program was executed";
  ::close(ends[0]);
  first.reset();
  EXPECT_TRUE(Store::open(path_));
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
}

TEST_F(DiskAndLocks, OnlyAttemptsOfDeadProcessesAreAbandoned) {
  Store* store = nullptr;
  const std::string said = in_child([&] {
    store = new Store(value_of(Store::open(path_)));  // never destroyed: dies with the process
    const OpenResult open = open_sample(*store, dataset_, cell_);
    value_of(store->commit_outputs(open.result, open.attempt, sample_outputs(0, 1)));
    return std::string("left");
  });
  ASSERT_EQ(said, "left");
  EXPECT_FALSE(value_of(value_of(Reader::open(path_)).results(cell_.id)).at(0).running)
      << "its process is gone";
  Store reopened = value_of(Store::open(path_));
  const OpenResult mine = open_result(reopened, cell_);
  EXPECT_EQ(value_of(reopened.abandon_dead_attempts()), 1);
  EXPECT_EQ(value_of(reopened.abandon_dead_attempts()), 0);
  const auto attempts = value_of(value_of(Reader::open(path_)).attempts(mine.result));
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].state, store::AttemptState::abandoned);
  EXPECT_EQ(attempts[1].state, store::AttemptState::running);
  EXPECT_THAT(value_of(reopened.present_ordinals(mine.result)), testing::ElementsAre(0, 1));
}

}  // namespace
}  // namespace qfs::test
