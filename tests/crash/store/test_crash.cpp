// SIGKILL at every failpoint of the store and at random moments: the file stays sound, and the same
// program run again ends with the same content as one that was never killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "harness/core/rng.h"
#include "harness/store/reader.h"
#include "tests/crash/store/crash_writer.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;
using store::Reader;

/// What has to be equal: everything but times, row numbers and the history of attempts.
struct Content {
  std::vector<store::ResultHashes> outputs;
  std::vector<store::ScoreRow> scores;
  std::vector<store::StatisticRow> statistics;
  std::vector<std::string> statuses;
  size_t measurements = 0;
  std::vector<store::ArtifactRow> artifacts;
  std::vector<store::TrainingPointRow> curve;
  std::optional<TrainingCost> cost;

  friend bool operator==(const Content&, const Content&) = default;
};

Content content_of(const std::string& path) {
  Reader reader = value_of(Reader::open(path));
  Content content;
  content.outputs = value_of(reader.output_hashes());
  for (const store::SweepResult& used :
       value_of(reader.results_of_sweep(value_of(reader.latest_sweep()).id))) {
    const store::ResultRow& result = used.result;
    content.statuses.push_back(std::to_string(used.position) + " " +
                               std::string(to_string(result.key.kind)) + " " +
                               std::string(to_string(result.status)));
    content.measurements += value_of(reader.measurements(result.id)).size();
    for (const store::ScoreJobRow& job : value_of(reader.scores(result.id))) {
      content.scores.insert(content.scores.end(), job.scores.begin(), job.scores.end());
      for (const auto& row : value_of(reader.statistics(job.id))) content.statistics.push_back(row);
    }
  }
  for (const store::CellRow& cell : value_of(reader.cells())) {
    if (!cell.training) continue;
    const store::ResultId result = value_of(reader.results(cell.id)).at(0).id;
    content.artifacts = value_of(reader.artifacts(result));
    content.curve = value_of(reader.training_points(result));
    content.cost = value_of(reader.training_cost(result));
  }
  return content;
}

void expect_sound(const std::string& path) {
  if (!std::filesystem::exists(path)) return;
  auto reader = Reader::open(path);
  if (!reader) {
    // Killed before the first commit: an empty database that the next writer fills.
    EXPECT_THAT(reader.error().message, testing::HasSubstr("the file is empty"));
    return;
  }
  EXPECT_THAT(value_of(reader->check_integrity()), testing::IsEmpty());
}

/// Starts this program as a writer; without a failpoint it runs to its end.
/// This program again with other arguments, to be killed at `failpoint`.
pid_t start(std::vector<std::string> arguments, const std::string& failpoint = {}) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::unsetenv("QFS_FAILPOINT");
  if (!failpoint.empty()) ::setenv("QFS_FAILPOINT", failpoint.c_str(), 1);
  arguments.insert(arguments.begin(), "store_crash_test");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execv("/proc/self/exe", argv.data());
  ::_exit(127);
}

pid_t start_writer(const std::string& path, int64_t examples, const std::string& failpoint = {}) {
  return start({"--write", path, std::to_string(examples)}, failpoint);
}

/// True when it was killed, false when it ended well; anything else fails the test.
bool was_killed(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status;
  return false;
}

void run_to_the_end(const std::string& path, int64_t examples) {
  EXPECT_FALSE(was_killed(start_writer(path, examples)));
}

class CrashAt : public testing::TestWithParam<const char*> {};

TEST_P(CrashAt, EveryPassingOfAFailpointTheSameCommandContinues) {
  constexpr int64_t kExamples = 5;
  const TemporaryFolder folder;
  const std::string reference = folder / "reference.sqlite";
  run_to_the_end(reference, kExamples);
  const Content expected = content_of(reference);

  int kills = 0;
  while (!HasFailure()) {
    const std::string failpoint = std::string(GetParam()) + ":" + std::to_string(kills + 1);
    SCOPED_TRACE(failpoint);
    const std::string path = folder / (failpoint + ".sqlite");
    if (!was_killed(start_writer(path, kExamples, failpoint))) break;
    ++kills;
    expect_sound(path);
    run_to_the_end(path, kExamples);
    expect_sound(path);
    EXPECT_EQ(content_of(path), expected);
  }
  RecordProperty("kills", kills);
  EXPECT_GE(kills, 1) << "the writer never passed the failpoint";
}

INSTANTIATE_TEST_SUITE_P(Failpoints, CrashAt,
                         testing::Values("store.before_begin", "store.before_commit",
                                         "store.after_commit", "store.migrate",
                                         "store.before_score_commit"));

TEST(Crash, AtRandomMomentsTheSameCommandContinues) {
  constexpr int64_t kExamples = 120;
  constexpr int kRounds = 20;
  constexpr int kFewestKills = 10;
  const TemporaryFolder folder;
  const std::string reference = folder / "reference.sqlite";
  const auto begin = steady_clock::now();
  run_to_the_end(reference, kExamples);
  const auto whole = std::chrono::duration_cast<microseconds>(steady_clock::now() - begin);
  const Content expected = content_of(reference);

  Rng rng(20240229);
  int kills = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const std::string path = folder / ("killed-" + std::to_string(round) + ".sqlite");
    const pid_t writer = start_writer(path, kExamples);
    const auto latest = static_cast<uint64_t>(whole.count()) * 3 / 4;
    std::this_thread::sleep_for(microseconds(rng.below(latest)));
    ::kill(writer, SIGKILL);
    if (was_killed(writer)) ++kills;
    expect_sound(path);
    run_to_the_end(path, kExamples);
    EXPECT_EQ(content_of(path), expected);
  }
  RecordProperty("kills", kills);
  EXPECT_GE(kills, kFewestKills) << "most writers ended before they were killed";
}

class MergeCrashAt : public testing::TestWithParam<const char*> {};

TEST_P(MergeCrashAt, EveryPassingOfAFailpointAStoreIsMergedWholeOrNotAtAll) {
  constexpr int64_t kExamples = 5;
  const TemporaryFolder folder;
  folder.write("artifacts/adapter", "adapter");
  const std::string first = folder / "first.sqlite";
  const std::string second = folder / "second.sqlite";  // a duplicate shard that got further
  run_to_the_end(second, kExamples);
  EXPECT_TRUE(was_killed(start_writer(first, kExamples, "store.before_commit:9")));
  const Content expected = content_of(second);

  int kills = 0;
  while (!HasFailure()) {
    const std::string failpoint = std::string(GetParam()) + ":" + std::to_string(kills + 1);
    SCOPED_TRACE(failpoint);
    const std::string path = folder / (failpoint + ".sqlite");
    if (!was_killed(start({"--merge", path, first, second}, failpoint))) break;
    ++kills;
    expect_sound(path);
    EXPECT_FALSE(was_killed(start({"--merge", path, first, second})));
    expect_sound(path);
    Content merged = content_of(path);
    for (store::ArtifactRow& artifact : merged.artifacts) {
      EXPECT_TRUE(std::filesystem::exists(folder / artifact.location));
      artifact.location = "artifacts/adapter";
    }
    EXPECT_EQ(merged, expected);
  }
  RecordProperty("kills", kills);
  EXPECT_GE(kills, 1) << "merging never passed the failpoint";
}

INSTANTIATE_TEST_SUITE_P(Failpoints, MergeCrashAt,
                         testing::Values("store.before_begin", "store.before_merge_commit",
                                         "store.after_commit", "store.after_trained_file"));

}  // namespace
}  // namespace qfs::test

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 3 && arguments[0] == "--write") {
    return qfs::test::write_everything(arguments[1], std::stoll(arguments[2]));
  }
  if (arguments.size() > 2 && arguments[0] == "--merge") {
    return qfs::test::merge_all(arguments[1], {arguments.begin() + 2, arguments.end()});
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
