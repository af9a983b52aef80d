// Files that are not what they should be: each is refused with its reason, and left as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/store/reader.h"
#include "harness/store/schema.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::store {
namespace {

namespace fs = std::filesystem;
using test::check;
using test::TemporaryFolder;
using test::value_of;
using testing::HasSubstr;

class ForeignFiles : public testing::Test {
 protected:
  /// Runs SQL on the file as any SQLite program could.
  void run_sql(const std::string& sql) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << (message == nullptr ? "" : message);
    sqlite3_free(message);
    sqlite3_close(db);
  }
  void make_store() const {
    Store store = value_of(Store::open(path_));
    const Dataset dataset = test::sample_dataset(4);
    const test::OpenResult open = test::open_sample(store, dataset, test::sample_cell(dataset));
    value_of(store.commit_outputs(open.result, open.attempt, test::sample_outputs(0, 3)));
    SweepRow sweep{.name = "lc", .cells = {{test::sample_cell(dataset).id, "Lead", {}, {}}}};
    value_of(store.put_sweep(sweep));
  }
  /// Both ways of opening refuse the file with this message, as a `store` error.
  void expect_refused(const std::string& message) const {
    const auto before = test::file_text(path_);
    const auto store = Store::open(path_);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().kind, ErrorKind::store);
    EXPECT_THAT(store.error().message, HasSubstr(message));
    EXPECT_EQ(store.error().where, path_);
    for (const bool foreign : {false, true}) {
      const auto reader = Reader::open(path_, {.foreign = foreign});
      ASSERT_FALSE(reader);
      EXPECT_EQ(reader.error().kind, ErrorKind::store);
      EXPECT_THAT(reader.error().message, HasSubstr(message));
    }
    EXPECT_EQ(test::file_text(path_), before) << "a file that is not ours is left alone";
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.sqlite";
};

TEST_F(ForeignFiles, ATextFileIsNotAStore) {
  folder_.write("run.sqlite", std::string(5000, 'x'));
  expect_refused("not a qfs-bench store: not an SQLite database");
}

TEST_F(ForeignFiles, ADatabaseOfAnotherProgramIsNotAStore) {
  run_sql("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1);");
  expect_refused("not a qfs-bench store: an SQLite database of another program");
}

TEST_F(ForeignFiles, ANewerStoreIsRefused) {
  make_store();
  run_sql("PRAGMA user_version=2;");
  expect_refused("the store is newer than this program: schema version 2, known up to 1");
}

TEST_F(ForeignFiles, AStoreFromBeforeTheFirstReleaseIsRefusedWithWhatToDo) {
  // "qfsb" marked two schemas that nobody but the authors had.
  run_sql(
      "CREATE TABLE schema_version (version INTEGER PRIMARY KEY);"
      " PRAGMA application_id=1902539618; PRAGMA user_version=2;");
  expect_refused(
      "made before the first release, in a form that this program does not read; read it with the "
      "qfs-bench that wrote it, or run the sweep again into a new --store");
}

TEST_F(ForeignFiles, ANegativeVersionIsRefused) {
  make_store();
  run_sql("PRAGMA user_version=-3;");
  expect_refused("not a qfs-bench store");
}

TEST_F(ForeignFiles, AFolderIsNotAStore) {
  fs::create_directory(path_);
  EXPECT_EQ(Store::open(path_).error().kind, ErrorKind::store);
  EXPECT_EQ(Reader::open(path_).error().kind, ErrorKind::store);
}

TEST_F(ForeignFiles, AMissingFileIsNotFound) {
  EXPECT_EQ(Reader::open(path_).error().kind, ErrorKind::not_found);
  EXPECT_EQ(Store::open(path_, {.create = false}).error().kind, ErrorKind::not_found);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(ForeignFiles, AnEmptyFileBecomesAStoreButIsNoneToRead) {
  folder_.write("run.sqlite", "");
  EXPECT_THAT(Reader::open(path_).error().message, HasSubstr("the file is empty"));
  EXPECT_TRUE(Store::open(path_));
  EXPECT_TRUE(Reader::open(path_));
}

TEST_F(ForeignFiles, ATriggerOrViewDoesNotBelongThere) {
  make_store();
  run_sql("CREATE TRIGGER evil AFTER INSERT ON output BEGIN DELETE FROM output; END;");
  expect_refused("the trigger 'evil' does not belong there");
  run_sql("DROP TRIGGER evil; CREATE VIEW evil AS SELECT * FROM output;");
  expect_refused("the view 'evil' does not belong there");
}

TEST_F(ForeignFiles, AnAlteredTableDoesNotBelongThere) {
  make_store();
  run_sql("ALTER TABLE event ADD COLUMN more TEXT;");
  expect_refused("the table 'event' does not belong there");
}

TEST_F(ForeignFiles, AMissingIndexIsNoticed) {
  make_store();
  run_sql("DROP INDEX attempt_by_result;");
  expect_refused("the index 'attempt_by_result' is missing");
}

TEST_F(ForeignFiles, AForeignStoreIsReadFromAPrivateCopy) {
  make_store();
  Reader reader = value_of(Reader::open(path_, {.foreign = true}));
  fs::remove(path_);
  EXPECT_EQ(value_of(reader.output_hashes()).at(0).outputs.size(), 4U);
  EXPECT_FALSE(fs::exists(path_ + "-shm"));
}

TEST_F(ForeignFiles, ADamagedPageOfAForeignStoreIsFoundAtOnce) {
  make_store();
  std::string bytes = *test::file_text(path_);
  constexpr size_t kPageBytes = 4096;
  for (size_t page = 2; page * kPageBytes < bytes.size(); page += 3) {
    bytes.replace(page * kPageBytes, 16, 16, '\xFF');
  }
  folder_.write("run.sqlite", bytes);
  const auto reader = Reader::open(path_, {.foreign = true});
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, ErrorKind::store);
  EXPECT_THAT(reader.error().message, HasSubstr("damaged"));
}

class Integrity : public ForeignFiles {
 protected:
  void SetUp() override { make_store(); }
  std::vector<std::string> problems() const {
    return value_of(value_of(Reader::open(path_)).check_integrity());
  }
};

TEST_F(Integrity, ASoundStoreHasNoProblems) { EXPECT_THAT(problems(), testing::IsEmpty()); }

TEST_F(Integrity, AnEditedTextIsFoundByItsDigest) {
  run_sql("UPDATE text SET body = 'forged' WHERE body = 'What was said about item 2?';");
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("is not the one with this digest")));
}

TEST_F(Integrity, AnEditedOutputIsFoundByItsDigest) {
  run_sql("UPDATE output SET tokens_out = 6 WHERE ordinal = 1;");
  EXPECT_THAT(problems(), testing::ElementsAre("output 1 of result 1 does not have its digest"));
}

TEST_F(Integrity, AnEditedCellIsFoundByItsId) {
  run_sql("UPDATE cell SET identity = '{\"method\":\"better\"}';");
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("is not the id of its identity")));
}

TEST_F(Integrity, AWordThatNobodyKnowsIsFoundAndNotReadAsAnother) {
  run_sql(
      "UPDATE attempt SET state = 'asleep'; INSERT INTO event VALUES (1, '', NULL, 'loud', '');");
  EXPECT_THAT(problems(),
              testing::ElementsAre("table attempt: 'asleep' is no state that this program knows",
                                   "table event: 'loud' is no level that this program knows",
                                   "attempt 1 does not say how it ended"));
  Reader reader = value_of(Reader::open(path_));
  EXPECT_THAT(reader.result(ResultId{1}).error().message, HasSubstr("result 1 is not readable"));
  EXPECT_THAT(reader.attempts(ResultId{1}).error().message, HasSubstr("attempt 1 is not readable"));
  EXPECT_THAT(reader.events().error().message, HasSubstr("an event"));
}

TEST_F(Integrity, AnAttemptThatContradictsItselfIsFound) {
  run_sql("UPDATE attempt SET failure_kind = 'timeout';");
  EXPECT_THAT(problems(), testing::ElementsAre("attempt 1 does not say how it ended"));
}

TEST_F(Integrity, AResultThatDoesNotFitItsKindIsFound) {
  run_sql("UPDATE result SET kind = 'train';");
  EXPECT_THAT(problems(), testing::ElementsAre("result 1 does not say what it is complete with"));
}

TEST_F(Integrity, AnEditedSweepIsFoundByItsId) {
  run_sql("UPDATE sweep SET name = 'other';");
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("is not the id of its content")));
}

TEST_F(Integrity, AnOutputNobodyAskedForIsFound) {
  run_sql("UPDATE cell SET ordinals = '[0,1,2]', expected = 3;");
  EXPECT_THAT(problems(), testing::ElementsAre(HasSubstr("example 3")));
}

TEST_F(Integrity, ARowWithoutItsParentIsFound) {
  run_sql("DELETE FROM attempt;");
  EXPECT_THAT(problems(),
              testing::Each(HasSubstr("table output: a row refers to a missing row of attempt")));
  EXPECT_EQ(problems().size(), 4U);
}

TEST_F(Integrity, AnUnreadableColumnIsDamageNotAGuess) {
  run_sql("UPDATE output SET truncation = '[1,2' WHERE ordinal = 1;");
  Reader reader = value_of(Reader::open(path_));
  const auto outputs = reader.outputs(ResultId{1});
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().kind, ErrorKind::store);
  EXPECT_THAT(outputs.error().message, HasSubstr("the output of example 1 is not readable"));
}

}  // namespace
}  // namespace qfs::store
