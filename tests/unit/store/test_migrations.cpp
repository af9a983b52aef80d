// Migrations: from the first version on, with a backup, in one transaction each, and never
// backwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "harness/store/reader.h"
#include "harness/store/schema.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/store/sample_rows.h"

namespace qfs::store {
namespace {

using test::check;
using test::TemporaryFolder;
using test::value_of;

Connection connect(const std::string& path) {
  return value_of(Connection::open(path, OpenMode::create, 1000));
}

/// A history of three versions over one table; what a later release does to an older store.
constexpr std::array<Migration, 3> kHistory = {{
    {1, "initial",
     "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, name TEXT NOT NULL,"
     " sha256 TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT;"
     "CREATE TABLE fact (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;"},
    {2, "facts have authors", "ALTER TABLE fact ADD COLUMN author TEXT NOT NULL DEFAULT '';"},
    {3, "authors are found", "CREATE INDEX fact_by_author ON fact (author);"},
}};
constexpr std::span<const Migration> kVersion1(kHistory.data(), 1);

/// The text of a released migration, which never changes.
std::string pinned_file(int version) {
  const std::string number = std::to_string(version);
  return "tests/golden/store/migration_" + std::string(4 - number.size(), '0') + number + ".sql";
}

class Migrations : public testing::Test {
 protected:
  void make_version_1() const {
    Connection db = connect(path_);
    check(migrate(db, kVersion1));
    db.run("INSERT INTO fact (body) VALUES ('old')");
    check(db.finish());
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "store.sqlite";
};

TEST_F(Migrations, AnOldStoreIsBroughtToTheNewestVersionWithItsContent) {
  make_version_1();
  Connection db = connect(path_);
  check(migrate(db, kHistory));
  EXPECT_EQ(value_of(schema_version(db, kHistory)), 3);
  EXPECT_EQ(db.integer("SELECT count(*) FROM fact WHERE body = 'old' AND author = ''"), 1);
  EXPECT_EQ(db.integer("SELECT count(*) FROM schema_version"), 3);
  check(check_schema(db, 3, kHistory));
}

TEST_F(Migrations, TheOldFileIsKeptAsABackup) {
  make_version_1();
  Connection db = connect(path_);
  check(migrate(db, kHistory));
  Connection backup = connect(path_ + ".v1-backup");
  EXPECT_EQ(value_of(schema_version(backup, kVersion1)), 1);
  EXPECT_EQ(backup.integer("SELECT count(*) FROM fact WHERE body = 'old'"), 1);
}

TEST_F(Migrations, ANewStoreNeedsNoBackup) {
  Connection db = connect(path_);
  check(migrate(db, kHistory));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".v0-backup"));
}

TEST_F(Migrations, AMigrationThatFailsLeavesTheVersionBefore) {
  make_version_1();
  std::array<Migration, 2> broken = {kHistory[0],
                                     {2, "broken", "CREATE TABLE a (b); CREATE TABLE fact (id);"}};
  Connection db = connect(path_);
  EXPECT_FALSE(migrate(db, broken));
  EXPECT_EQ(value_of(schema_version(db, kVersion1)), 1);
  check(check_schema(db, 1, kVersion1));
}

TEST_F(Migrations, ANewerStoreIsRefusedAndNotTouched) {
  {
    Connection db = connect(path_);
    check(migrate(db, kHistory));
  }
  const auto before = test::file_text(path_);
  Connection db = connect(path_);
  const Status status = migrate(db, kVersion1);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::store);
  EXPECT_THAT(status.error().message, testing::HasSubstr("newer than this program"));
  EXPECT_EQ(test::file_text(path_), before);
}

TEST_F(Migrations, AReleasedMigrationMayNotChange) {
  make_version_1();
  const std::string with_comment = std::string(kHistory[0].sql) + " -- edited later";
  const std::array<Migration, 1> edited = {{{1, "initial", with_comment}}};
  Connection db = connect(path_);
  const Status status = migrate(db, edited);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::store);
  EXPECT_THAT(status.error().message, testing::HasSubstr("other migrations"));
}

TEST_F(Migrations, TheListHasNoGaps) {
  int version = 0;
  for (const Migration& migration : migration_list()) EXPECT_EQ(migration.version, ++version);
}

/// The DDL of every released version is pinned: a store of that version is made from the pinned
/// text, so this fixture stays what it was when the version was released.
TEST_F(Migrations, AStoreOfVersion1OpensAndShowsTheSame) {
  const auto ddl = test::file_text(pinned_file(1));
  ASSERT_TRUE(ddl);
  const Dataset dataset = test::sample_dataset(2);
  {
    Connection db = connect(path_);
    const std::array<Migration, 1> pinned = {{{1, "initial", *ddl}}};
    check(migrate(db, pinned));
    db.run("INSERT INTO text (sha256, body) VALUES (?, 'kept')", sha256_hex("kept"));
    check(db.finish());
  }
  Store store = value_of(Store::open(path_));
  check(store.put_dataset(dataset));
  Reader reader = value_of(Reader::open(path_));
  EXPECT_EQ(value_of(reader.text(sha256_hex("kept"))), "kept");
  EXPECT_EQ(value_of(reader.example(dataset.id, 1)), dataset.examples[1]);
  EXPECT_THAT(value_of(reader.check_integrity()), testing::IsEmpty());
}

/// SQLite cannot change a CHECK, so version 2 makes the tables of outputs anew.
TEST_F(Migrations, OutputsOfVersion1KeepTheirRowsAndReferences) {
  const auto ddl = test::file_text(pinned_file(1));
  ASSERT_TRUE(ddl);
  const std::string digest(64, 'a');
  {
    Connection db = connect(path_);
    const std::array<Migration, 1> pinned = {{{1, "initial", *ddl}}};
    check(migrate(db, pinned));
    db.run("INSERT INTO dataset VALUES (?1, 'd', '', '{}', 1, 0, 0)", digest);
    db.run("INSERT INTO cell VALUES (?1, 1, '{}', 'lead', 0, '{}', ?1, '0', '[0]', 1)", digest);
    db.run("INSERT INTO environment VALUES (?1, ?1, '{}', '{}', '{}', '')", digest);
    db.run("INSERT INTO result VALUES (7, ?1, ?1, 'predict', 0)", digest);
    db.run("INSERT INTO attempt VALUES (3, 7, ?1, 'done', 'none', '', '', '', 1, 1, '', '', '', 0)",
           digest);
    db.run(
        "INSERT INTO output VALUES (7, 0, 3, ?1, 'kept', 'overlength', 1, 2, 3, NULL, NULL, '{}')",
        digest);
    db.run(
        "INSERT INTO output_conflict VALUES (5, 7, 0, 3, ?1, 'other', 'stop', 1, 2, 3, NULL, NULL,"
        " '{}', '')",
        digest);
    check(db.finish());
  }
  Connection db = connect(path_);
  check(migrate(db, migration_list()));
  EXPECT_EQ(db.integer("SELECT count(*) FROM output WHERE text = 'kept' AND tokens_out = 2"), 1);
  EXPECT_EQ(
      db.integer("SELECT count(*) FROM output_conflict WHERE conflict_id = 5 AND ordinal = 0"), 1);
  EXPECT_EQ(db.integer("SELECT count(*) FROM pragma_foreign_key_check"), 0);
  EXPECT_EQ(db.integer("SELECT count(*) FROM pragma_foreign_key_list('output_conflict')"
                       " WHERE \"table\" = 'output'"),
            2);
  db.run("UPDATE output SET finish = 'reasoning'");
  check(db.finish());
  db.run("UPDATE output SET finish = 'nonsense'");
  EXPECT_FALSE(db.finish());
}

TEST_F(Migrations, EveryMigrationIsThePinnedOne) {
  for (const Migration& migration : migration_list()) {
    test::expect_golden(pinned_file(migration.version), std::string(migration.sql));
  }
}

// The pinned values were also computed with Python's hashlib from the documented byte forms.
TEST_F(Migrations, IdsOfTheStoreArePinned) {
  SweepRow sweep;
  sweep.name = "lc";
  sweep.config = Json{R"({"name":"lc"})"};
  sweep.cells = {{make_cell_id(Json{"{}"}), "Lead", Json{R"({"max_words":100})"}, {0, 2}}};
  test::expect_golden("tests/golden/store/ids.txt",
                      "sweep " + make_sweep_id(sweep).hex() + "\noutput " +
                          output_digest(test::sample_output(0).prediction) + "\n");
}

}  // namespace
}  // namespace qfs::store
