#include "harness/store/schema.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>

#include "harness/core/clock.h"
#include "harness/core/failpoint.h"
#include "harness/core/sha256.h"
#include "harness/core/system_error.h"
#include "harness/core/unique_fd.h"

namespace qfs::store {
namespace {

/// "qfsb": what stores of schemas that were never released have instead of kApplicationId.
constexpr int64_t kUnreleasedApplicationId = 0x71667362;

/// Each applied migration is, byte for byte, the one of this program.
Status check_checksums(Connection& db, std::span<const Migration> migrations) {
  Query rows = db.query("SELECT version, sha256 FROM schema_version ORDER BY version");
  int64_t version = 0;
  while (rows.next()) {
    ++version;
    const bool known = rows.integer(0) == version &&
                       version <= static_cast<int64_t>(migrations.size()) &&
                       rows.text(1) == sha256_hex(migrations[static_cast<size_t>(version - 1)].sql);
    if (!known) {
      return store_error("the schema was made by other migrations than this program's (version " +
                             std::to_string(version) + "); it cannot be used safely",
                         db.path());
    }
  }
  return db.finish();
}

/// Makes a finished file durable under its name.
Status sync_path(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.valid() && ::fsync(fd.get()) == 0) return {};
  return store_error("the backup cannot be written: " + error_text(errno), path);
}

Status back_up(Connection& db, int version) {
  const std::string backup = db.path() + ".v" + std::to_string(version) + "-backup";
  const std::string partial = backup + ".partial";
  ::unlink(partial.c_str());
  db.run("VACUUM INTO ?", partial);
  if (Status status = db.finish(); !status) return status;
  if (Status status = sync_path(partial); !status) return status;
  if (::rename(partial.c_str(), backup.c_str()) != 0) {
    return store_error("the backup cannot be written: " + error_text(errno), backup);
  }
  const size_t slash = backup.rfind('/');
  return sync_path(slash == backup.npos ? "." : backup.substr(0, slash + 1));
}

/// Within a transaction.
void apply(Connection& db, const Migration& migration) {
  const std::string version = std::to_string(migration.version);
  db.script(std::string(migration.sql));
  db.run("INSERT INTO schema_version (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)",
         migration.version, migration.name, sha256_hex(migration.sql), wall_clock_utc());
  db.script("PRAGMA application_id=" + std::to_string(kApplicationId) +
            "; PRAGMA user_version=" + version);
}

}  // namespace

Result<int> schema_version(Connection& db, std::span<const Migration> migrations) {
  const int64_t objects = db.integer("SELECT count(*) FROM sqlite_schema");
  const int64_t application = db.integer("PRAGMA application_id");
  const int64_t version = db.integer("PRAGMA user_version");
  if (Status status = db.finish(); !status) return status.error();
  if (objects == 0 && application == 0) return 0;
  if (application == kUnreleasedApplicationId) {
    return store_error(
        "the store was made before the first release, in a form that this program does not read; "
        "read it with the qfs-bench that wrote it, or run the sweep again into a new --store",
        db.path());
  }
  if (application != kApplicationId) {
    return store_error("not a qfs-bench store: an SQLite database of another program", db.path());
  }
  if (version < 1) return store_error("not a qfs-bench store: no schema version", db.path());
  const auto newest = static_cast<int64_t>(migrations.size());
  if (version > newest) {
    return store_error("the store is newer than this program: schema version " +
                           std::to_string(version) + ", known up to " + std::to_string(newest) +
                           "; use the qfs-bench that wrote it",
                       db.path());
  }
  return static_cast<int>(version);
}

Status migrate(Connection& db, std::span<const Migration> migrations) {
  const Result<int> version = schema_version(db, migrations);
  if (!version) return version.error();
  const auto done = static_cast<size_t>(*version);
  if (Status status = check_schema(db, *version, migrations); !status) return status;
  if (done == migrations.size()) return {};
  if (done > 0) {
    if (Status status = back_up(db, *version); !status) return status;
  }
  db.run("BEGIN EXCLUSIVE");
  for (const Migration& migration : migrations.subspan(done)) {
    apply(db, migration);
    QFS_FAILPOINT_HERE("store.migrate");
  }
  db.run("COMMIT");
  const Status status = db.finish();
  if (db.in_transaction()) {
    db.run("ROLLBACK");
    static_cast<void>(db.finish().ok());
  }
  return status;
}

Result<std::vector<SchemaObject>> schema_objects(Connection& db) {
  std::vector<SchemaObject> objects;
  Query rows = db.query("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name");
  while (rows.next()) objects.push_back({rows.text(0), rows.text(1), rows.text(2)});
  return db.finish(std::move(objects));
}

Status check_schema(Connection& db, int version, std::span<const Migration> migrations) {
  Result<Connection> fresh = Connection::open(":memory:", OpenMode::memory, 0);
  if (!fresh) return fresh.error();
  for (const Migration& migration : migrations.first(static_cast<size_t>(version))) {
    fresh->script(std::string(migration.sql));
  }
  const Result<std::vector<SchemaObject>> expected = schema_objects(*fresh);
  if (!expected) return expected.error();
  const Result<std::vector<SchemaObject>> found = schema_objects(db);
  if (!found) return found.error();
  const auto contains = [](const std::vector<SchemaObject>& objects, const SchemaObject& object) {
    return std::find(objects.begin(), objects.end(), object) != objects.end();
  };
  for (const SchemaObject& object : *found) {
    if (!contains(*expected, object)) {
      return store_error("the schema is not that of version " + std::to_string(version) + ": the " +
                             object.type + " '" + object.name + "' does not belong there",
                         db.path());
    }
  }
  for (const SchemaObject& object : *expected) {
    if (!contains(*found, object)) {
      return store_error("the schema is not that of version " + std::to_string(version) + ": the " +
                             object.type + " '" + object.name + "' is missing",
                         db.path());
    }
  }
  return version == 0 ? Status() : check_checksums(db, migrations);
}

}  // namespace qfs::store
