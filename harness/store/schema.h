// The schema of a store file: whether a file is ours, bringing it to the newest version, and
// comparing it word by word with what its version should look like.
//
// Used by Store, Reader and tests (which pass migration lists of their own). Not thread-safe (works
// on a connection). Failures are `store` errors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/store/migration_list.h"
#include "harness/store/sqlite.h"

namespace qfs::store {

/// "qfs1" in the header of every store file (PRAGMA application_id).
inline constexpr int64_t kApplicationId = 0x71667331;

/// The schema version that the file claims: 0 for an empty database. A `store` error for a database
/// that is not ours or newer than `migrations`.
Result<int> schema_version(Connection& db, std::span<const Migration> migrations);

/// Checks the schema, then applies what is missing with its checksums, all in one exclusive
/// transaction: a file is of its old version or of the newest. A file that holds something is
/// copied first, to `<path>.v<version>-backup`.
Status migrate(Connection& db, std::span<const Migration> migrations);

struct SchemaObject {
  std::string type;  ///< "table", "index", "view", "trigger"
  std::string name;
  std::string sql;  ///< empty for automatic indexes

  friend bool operator==(const SchemaObject&, const SchemaObject&) = default;
};

/// All objects of the database, by type and name.
Result<std::vector<SchemaObject>> schema_objects(Connection& db);

/// `store` error naming the first object that is missing, foreign or different from the DDL of
/// `version`, or the first migration whose recorded checksum is another.
Status check_schema(Connection& db, int version, std::span<const Migration> migrations);

}  // namespace qfs::store
