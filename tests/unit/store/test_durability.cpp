// A commit that returned is on the disk: SQLite's calls to fdatasync are counted by standing in for
// it.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace {
std::atomic<int> syncs{0};
}  // namespace

extern "C" int fdatasync(int fd) {
  ++syncs;
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

namespace qfs::test {
namespace {

TEST(Durability, EveryCommitWaitsForTheDisk) {
  const TemporaryFolder folder;
  store::Store store = value_of(store::Store::open(folder / "run.sqlite"));
  const Dataset dataset = sample_dataset(4);
  const OpenResult open = open_sample(store, dataset, sample_cell(dataset));
  for (int64_t example = 0; example < 4; ++example) {
    const int before = syncs;
    value_of(store.commit_outputs(open.result, open.attempt, sample_outputs(example, example)));
    EXPECT_GE(syncs, before + 1) << "output " << example;
  }
}

}  // namespace
}  // namespace qfs::test
