// Merging stores: everything arrives, a second time nothing does, what is here stays, and what
// contradicts it is evidence. A source is handled as a stranger's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/store/merge.h"
#include "harness/store/reader.h"
#include "harness/store/sqlite.h"
#include "harness/store/store_lock.h"
#include "tests/crash/store/crash_writer.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::test {
namespace {

namespace fs = std::filesystem;
using store::merge_store;
using store::MergeOutcome;
using store::Reader;
using store::Store;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Merge : public testing::Test {
 protected:
  MergeOutcome merged(const std::string& source, const store::MergeOptions& options = {}) {
    return value_of(merge_store(here_, source, options));
  }
  Error refused(const std::string& source, const store::MergeOptions& options = {}) {
    const auto outcome = merge_store(here_, source, options);
    return outcome ? Error{ErrorKind::internal, "nothing was refused", ""} : outcome.error();
  }
  Reader reader() const { return value_of(Reader::open(here_)); }
  void expect_sound() const { EXPECT_THAT(value_of(reader().check_integrity()), IsEmpty()); }
  /// A store whose sample cell has these outputs.
  std::string store_with(const std::string& name, const std::vector<store::OutputRow>& outputs) {
    const std::string path = folder_ / name;
    Store store = value_of(Store::open(path));
    const Dataset dataset = sample_dataset(6);
    const store::CellRow cell = sample_cell(dataset);
    const OpenResult open = open_sample(store, dataset, cell);
    value_of(store.commit_outputs(open.result, open.attempt, outputs));
    check(store.end_attempt(open.attempt, {}));
    return path;
  }
  void score(const std::string& path, double value) {
    Store store = value_of(Store::open(path));
    const store::CellRow cell = sample_cell(sample_dataset(6));
    store::ScoreJob job;
    job.result = value_of(store.ensure_result(
        {cell.id, sample_environment().numerics_id, store::ResultKind::predict}));
    job.id = make_score_id(cell.id, sample_environment().numerics_id, Json{"[]"}, "length@1");
    job.metric = "length";
    job.signature = "length@1";
    job.columns = {"length"};
    for (const int64_t ordinal : value_of(store.present_ordinals(job.result))) {
      job.statistics.push_back({ordinal, {}, {value}});
    }
    job.scores = {{"length", value, {}}};
    check(store.put_scores(job));
  }
  void run_sql(const std::string& path, const std::string& sql) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << (message == nullptr ? "" : message);
    sqlite3_free(message);
    sqlite3_close(db);
  }

  TemporaryFolder folder_;
  std::string here_ = folder_ / "main.sqlite";
};

TEST_F(Merge, EverythingArrivesAndASecondTimeNothing) {
  const std::string source = folder_ / "shard.sqlite";
  folder_.write("artifacts/adapter", "adapter");
  ASSERT_EQ(write_everything(source, 4), 0);
  const MergeOutcome first = merged(source);
  EXPECT_EQ(first.cells, 3);
  EXPECT_EQ(first.results, 4);
  EXPECT_EQ(first.outputs, 8);
  EXPECT_EQ(first.repetitions, 2);
  EXPECT_EQ(first.artifacts, 1);
  EXPECT_EQ(first.scores, 2);
  EXPECT_EQ(first.conflicts, 0);
  expect_sound();
  Reader there = value_of(Reader::open(source));
  Reader here = reader();
  EXPECT_EQ(value_of(here.output_hashes()), value_of(there.output_hashes()));
  EXPECT_EQ(value_of(here.latest_sweep()).id, value_of(there.latest_sweep()).id);
  const auto shown = value_of(here.results_of_sweep(value_of(here.latest_sweep()).id));
  ASSERT_EQ(shown.size(), 3U);
  for (const store::SweepResult& used : shown) {
    EXPECT_EQ(used.result.status, store::Completeness::complete);
  }
  const auto bytes = file_text(here_);
  const MergeOutcome second = merged(source);
  EXPECT_EQ(second.cells + second.results + second.attempts + second.outputs + second.repetitions +
                second.artifacts + second.scores + second.sweeps + second.datasets,
            0);
  EXPECT_EQ(file_text(here_), bytes) << "a second merge writes nothing";
}

TEST_F(Merge, HalvesOfACellBecomeAWholeInAnyOrder) {
  const std::string whole = store_with("whole.sqlite", sample_outputs(0, 5));
  const std::string first = store_with("first.sqlite", sample_outputs(0, 3));
  const std::string second = store_with("second.sqlite", sample_outputs(2, 5));
  for (const auto& order : {std::vector{first, second}, std::vector{second, first}}) {
    fs::remove(here_);
    for (const std::string& source : order) EXPECT_EQ(merged(source).conflicts, 0);
    EXPECT_EQ(value_of(reader().output_hashes()),
              value_of(value_of(Reader::open(whole)).output_hashes()));
    expect_sound();
  }
}

TEST_F(Merge, AnotherOutputOfACellIsEvidenceAndTheFirstIsKept) {
  const std::string first = store_with("first.sqlite", sample_outputs(0, 2));
  const std::string other =
      store_with("other.sqlite", {sample_output(1), sample_output(2, "another"), sample_output(3)});
  score(other, 7);
  merged(first);
  const MergeOutcome outcome = merged(other);
  EXPECT_EQ(outcome.outputs, 1);
  ASSERT_EQ(outcome.conflicts, 1);
  const store::MergeConflict& conflict = outcome.shown.at(0);
  EXPECT_EQ(conflict.cell, sample_cell(sample_dataset(6)).id);
  EXPECT_EQ(conflict.subject, "example 2");
  EXPECT_EQ(conflict.kept, "They talked about item 2.");
  EXPECT_EQ(conflict.other, "They talked about another 2.");
  EXPECT_FALSE(conflict.kept_environment.empty());
  const auto stored = value_of(reader().conflicts());
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(stored.at(0).first_text, "They talked about item 2.");
  EXPECT_EQ(stored.at(0).second_text, "They talked about another 2.");
  EXPECT_NE(stored.at(0).first_attempt, stored.at(0).second_attempt);
  EXPECT_EQ(outcome.scores, 0) << "a score is of the outputs that it was made of";
  EXPECT_EQ(outcome.scores_left, 1);
  const MergeOutcome again = merged(other);
  EXPECT_EQ(again.conflicts, 1) << "still evidence";
  EXPECT_EQ(value_of(reader().conflicts()).size(), 1U) << "but stored once";
  expect_sound();
}

TEST_F(Merge, EvidenceThatAnotherStoreHasTravels) {
  const std::string path = store_with("first.sqlite", sample_outputs(0, 2));
  {
    Store store = value_of(Store::open(path));
    const OpenResult open = open_result(store, sample_cell(sample_dataset(6)));
    value_of(store.commit_outputs(open.result, open.attempt, {{sample_output(0, "another")}}));
    check(store.end_attempt(open.attempt, {}));
  }
  merged(path);
  EXPECT_EQ(value_of(reader().conflicts()).size(), 1U);
}

TEST_F(Merge, StrictTakesNothingOfAStoreThatContradicts) {
  merged(store_with("first.sqlite", sample_outputs(0, 2)));
  const std::string other =
      store_with("other.sqlite", {sample_output(2, "another"), sample_output(3)});
  const auto before = value_of(reader().output_hashes());
  const Error error = refused(other, {.strict = true});
  EXPECT_EQ(error.kind, ErrorKind::store);
  EXPECT_EQ(error.where, other);
  EXPECT_THAT(error.message, HasSubstr("contradicts what is here in 1 place;"));
  EXPECT_EQ(value_of(reader().output_hashes()), before);
  EXPECT_THAT(value_of(reader().conflicts()), IsEmpty());
}

TEST_F(Merge, AScoreOfMoreExamplesReplacesAPartialOne) {
  const std::string part = store_with("part.sqlite", sample_outputs(0, 2));
  score(part, 1);
  const std::string whole = store_with("whole.sqlite", sample_outputs(0, 5));
  score(whole, 2);
  merged(part);
  EXPECT_EQ(merged(whole).scores, 1);
  EXPECT_EQ(merged(part).scores, 0);
  const auto jobs = value_of(reader().scores(store::ResultId{1}));
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs.at(0).n, 6);
  EXPECT_EQ(jobs.at(0).scores.at(0).value, 2);
  expect_sound();
}

TEST_F(Merge, AScoreOfEqualOutputsWithAnotherValueIsEvidence) {
  const std::string first = store_with("first.sqlite", sample_outputs(0, 2));
  score(first, 1);
  const std::string other = store_with("other.sqlite", sample_outputs(0, 2));
  score(other, 2);
  merged(first);
  const MergeOutcome outcome = merged(other);
  ASSERT_EQ(outcome.conflicts, 1);
  EXPECT_EQ(outcome.shown.at(0).subject, "length length");
  EXPECT_EQ(value_of(reader().scores(store::ResultId{1})).at(0).scores.at(0).value, 1);
}

TEST_F(Merge, AnAttemptWhoseProcessDiedIsAbandonedAndItsRowsCount) {
  const std::string path = folder_ / "killed.sqlite";
  {
    Store store = value_of(Store::open(path));
    const Dataset dataset = sample_dataset(6);
    const OpenResult open = open_sample(store, dataset, sample_cell(dataset));
    value_of(store.commit_outputs(open.result, open.attempt, sample_outputs(0, 1)));
  }
  EXPECT_EQ(merged(path).outputs, 2);
  const auto attempts = value_of(reader().attempts(store::ResultId{1}));
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_EQ(attempts.at(0).state, store::AttemptState::abandoned);
  EXPECT_FALSE(attempts.at(0).ended_at.empty());
  expect_sound();
}

TEST_F(Merge, ATrainedFileIsCopiedBesideTheStore) {
  fs::create_directory(folder_ / "elsewhere");
  folder_.write("elsewhere/artifacts/adapter", "adapter");
  ASSERT_EQ(write_everything(folder_ / "elsewhere/shard.sqlite", 2), 0);
  merged(folder_ / "elsewhere/shard.sqlite");
  fs::remove_all(folder_ / "elsewhere");
  const auto results =
      value_of(reader().results(sample_training_cell(sample_dataset(2), sample_dataset(2)).id));
  const auto files = value_of(reader().artifacts(results.at(0).id));
  ASSERT_EQ(files.size(), 1U);
  EXPECT_TRUE(files.at(0).location.starts_with("main.artifacts/")) << files.at(0).location;
  EXPECT_EQ(file_text(folder_ / files.at(0).location), "adapter");
  EXPECT_EQ(value_of(reader().training_points(results.at(0).id)).size(), 3U);
}

TEST_F(Merge, ATrainedFileThatIsAnotherIsRefused) {
  folder_.write("artifacts/adapter", "forged!");
  ASSERT_EQ(write_everything(folder_ / "shard.sqlite", 2), 0);
  const Error error = refused(folder_ / "shard.sqlite");
  EXPECT_EQ(error.kind, ErrorKind::data);
  EXPECT_THAT(error.message, HasSubstr("is not the one that the store knows"));
  EXPECT_THAT(value_of(reader().cells()), IsEmpty());
}

TEST_F(Merge, ATrainedFileIsNotFollowedOutOfTheFolder) {
  fs::create_directory(folder_ / "shared");
  folder_.write("adapter", "adapter");
  fs::create_directory(folder_ / "shared/artifacts");
  fs::create_symlink("../../adapter", folder_ / "shared/artifacts/adapter");
  ASSERT_EQ(write_everything(folder_ / "shared/shard.sqlite", 2), 0);
  EXPECT_THAT(refused(folder_ / "shared/shard.sqlite").message,
              HasSubstr("not in the store's folder"));
}

TEST_F(Merge, AMissingTrainedFileIsSaidAndTheRestIsTaken) {
  ASSERT_EQ(write_everything(folder_ / "shard.sqlite", 2), 0);
  const MergeOutcome outcome = merged(folder_ / "shard.sqlite");
  EXPECT_EQ(outcome.missing_files, 1);
  EXPECT_EQ(outcome.outputs, 4);
}

TEST_F(Merge, ASourceThatSomebodyChangedIsRefusedWhole) {
  const std::string source = store_with("shard.sqlite", sample_outputs(0, 5));
  run_sql(source, "UPDATE output SET text = 'forged' WHERE ordinal = 1;");
  const Error error = refused(source);
  EXPECT_EQ(error.kind, ErrorKind::store);
  EXPECT_EQ(error.where, source);
  EXPECT_THAT(error.message, HasSubstr("output 1 of result 1 does not have its digest"));
  EXPECT_FALSE(fs::exists(here_)) << "and the destination is not even made";
}

TEST_F(Merge, AForeignTriggerIsRefused) {
  const std::string source = store_with("shard.sqlite", sample_outputs(0, 5));
  run_sql(source, "CREATE TRIGGER evil AFTER INSERT ON output BEGIN DELETE FROM output; END;");
  EXPECT_THAT(refused(source).message, HasSubstr("the trigger 'evil' does not belong there"));
}

TEST_F(Merge, AnotherDataSetUnderOneIdIsRefused) {
  merged(store_with("first.sqlite", sample_outputs(0, 1)));
  const std::string other = store_with("other.sqlite", sample_outputs(2, 3));
  run_sql(other,
          "UPDATE example SET example_sha256 = '" + sha256_hex("x") + "' WHERE ordinal = 0;");
  const Error error = refused(other);
  EXPECT_EQ(error.kind, ErrorKind::data);
  EXPECT_THAT(error.message, HasSubstr("data set " + sample_dataset(6).id.short_hex()));
  EXPECT_EQ(value_of(reader().output_hashes()).at(0).outputs.size(), 2U);
}

TEST_F(Merge, AStoreThatIsBeingWrittenIsNotReadHalf) {
  const std::string source = store_with("shard.sqlite", sample_outputs(0, 5));
  const auto lock = store::StoreLock::acquire(source);
  EXPECT_THAT(refused(source).message, HasSubstr("another qfs-bench writes this store"));
}

TEST_F(Merge, WhatIsNoStoreIsRefused) {
  EXPECT_EQ(refused(folder_ / "absent.sqlite").kind, ErrorKind::not_found);
  folder_.write("text.sqlite", std::string(5000, 'x'));
  EXPECT_EQ(refused(folder_ / "text.sqlite").kind, ErrorKind::store);
  EXPECT_EQ(refused(folder_.path()).kind, ErrorKind::store);
  const std::string one = store_with("main.sqlite", sample_outputs(0, 1));
  EXPECT_THAT(refused(one).message, HasSubstr("into itself"));
}

TEST_F(Merge, ASweepOfAnotherStoreComesAfterThoseHere) {
  const auto with_sweep = [this](const std::string& name) {
    const std::string path = store_with(name + ".sqlite", sample_outputs(0, 1));
    Store store = value_of(Store::open(path));
    value_of(store.put_sweep(
        {.name = name, .cells = {{sample_cell(sample_dataset(6)).id, "Lead", {}, {}}}}));
    return path;
  };
  const std::string first = with_sweep("one");
  const std::string second = with_sweep("two");
  merged(first);
  merged(second);
  merged(first);
  std::vector<std::string> names;
  for (const store::SweepInfo& sweep : value_of(reader().sweeps())) names.push_back(sweep.name);
  EXPECT_THAT(names, ElementsAre("two", "one")) << "latest first; a second merge changes nothing";
}

}  // namespace
}  // namespace qfs::test
