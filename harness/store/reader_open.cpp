#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "harness/store/migration_list.h"
#include "harness/store/reader_state.h"
#include "harness/store/schema.h"

namespace qfs::store {
namespace {

namespace fs = std::filesystem;

/// A store on a read-only disk has no place for the shared memory of its log; when it was closed
/// properly there is no log and nobody can write it, so it is read as it lies.
Result<Connection> connect(const fs::path& file) {
  Result<Connection> db = Connection::open(file.string(), OpenMode::read_only, kBusyTimeoutMs);
  Status readable = db ? Status() : Status(db.error());
  if (db) {
    db->integer("SELECT count(*) FROM sqlite_schema");
    readable = db->finish();
  }
  if (readable) return db;
  std::error_code error;
  const fs::path log = file.string() + "-wal";
  const bool has_log = fs::exists(log, error) && fs::file_size(log, error) > 0;
  const bool writable = ::access(file.parent_path().c_str(), W_OK) == 0;
  if (has_log || writable) return readable.error();
  return Connection::open(file.string(), OpenMode::immutable, kBusyTimeoutMs);
}

Status check_ours(Connection& db, bool foreign) {
  const Result<int> version = schema_version(db, migration_list());
  if (!version) return version.error();
  if (*version == 0) return store_error("not a qfs-bench store: the file is empty", db.path());
  const auto newest = static_cast<int>(migration_list().size());
  if (*version < newest) {
    return store_error("the store has schema version " + std::to_string(*version) +
                           "; any command that writes to it brings it to version " +
                           std::to_string(newest),
                       db.path());
  }
  if (Status status = check_schema(db, *version, migration_list()); !status) return status;
  if (!foreign) return {};
  std::string verdict;
  {
    Query rows = db.query("PRAGMA quick_check(1)");
    if (rows.next()) verdict = rows.text(0);
  }
  if (Status status = db.finish(); !status) return status;
  if (verdict == "ok") return {};
  return store_error("the store is damaged: " + verdict, db.path());
}

}  // namespace

Result<Reader> Reader::open(const std::string& path, const ReadOptions& options) {
  std::error_code error;
  fs::path file = fs::weakly_canonical(path, error);
  if (error || !fs::exists(file, error)) return not_found("there is no store", path);
  if (!fs::is_regular_file(file, error)) {
    return store_error("not a qfs-bench store: not a regular file", path);
  }
  TemporaryFolder folder;
  if (options.foreign) {
    Result<PrivateCopy> copy = copy_to_private_folder(file);
    if (!copy) return copy.error();
    file = copy->file;
    folder = std::move(copy->folder);
  }
  Result<Connection> db = connect(file);
  if (!db) return db.error();
  db->name_in_errors(path);
  constexpr int kLongestValueBytes = 256 << 20;
  sqlite3_limit(db->handle(), SQLITE_LIMIT_LENGTH, kLongestValueBytes);
  db->script("PRAGMA query_only=ON; PRAGMA cell_size_check=ON;");
  if (Status status = check_ours(*db, options.foreign); !status) return status.error();
  return Reader(std::make_unique<ReaderState>(ReaderState{std::move(folder), *std::move(db)}));
}

Reader::Reader(std::unique_ptr<ReaderState> state) : state_(std::move(state)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

}  // namespace qfs::store
