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

/// The text of a migration, which never changes once it is released.
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
