#include "harness/store/sqlite.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include "harness/core/failpoint.h"
#include "harness/core/system_error.h"

namespace qfs::store {
namespace {

/// A file name as the path of a "file:" URI.
std::string uri_path(std::string_view path) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string escaped;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || byte == '/' || byte == '.' || byte == '-' ||
                       byte == '_';
    if (plain) {
      escaped += c;
    } else {
      escaped += '%';
      escaped += kHex[byte >> 4U];
      escaped += kHex[byte & 15U];
    }
  }
  return escaped;
}

bool out_of_space(int error_number) {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

/// What a result code means for somebody who has a store file and a problem.
Error error_of_code(int code, sqlite3* db, const std::string& path) {
  const std::string detail = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  const int system_error = db != nullptr ? sqlite3_system_errno(db) : 0;
  const Error full = store_error(
      "the disk (or a quota or file size limit) is full; nothing of this step was "
      "stored. Make room and run the same command again",
      path);
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return full;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return store_error("the store is read-only; give write permission or use another --store",
                         path);
    case SQLITE_CANTOPEN: {
      std::error_code ignored;
      if (system_error == ENOENT && std::filesystem::exists(path, ignored)) {
        return store_error(
            "the store cannot be opened: SQLite keeps files beside it, and its folder cannot be "
            "written",
            path);
      }
      return store_error(
          "the store cannot be opened: " + (system_error != 0 ? error_text(system_error) : detail),
          path);
    }
    case SQLITE_NOTADB:
      return store_error("not a qfs-bench store: not an SQLite database", path);
    case SQLITE_CORRUPT:
      return store_error(
          "the store is damaged (" + detail + "); restore it from a backup or an export", path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return store_error("the store is locked by another process (" + detail + ")", path);
    case SQLITE_IOERR:
      if (out_of_space(system_error)) return full;
      if (code == SQLITE_IOERR_WRITE) {
        // SQLite reports a quota or a file size limit as this, and the reason is not always kept.
        return store_error("the store cannot be written (" + detail +
                               "); a quota or file size limit is reached or the disk fails; "
                               "nothing of this step was stored",
                           path);
      }
      if (system_error == EROFS || system_error == EACCES || system_error == EPERM) {
        return store_error("the store cannot be written: " + error_text(system_error), path);
      }
      return store_error("input/output error (" + detail +
                             (system_error != 0 ? ": " + error_text(system_error) : "") + ")",
                         path);
    case SQLITE_NOMEM:
      return out_of_memory("no memory for the store", path);
    case SQLITE_TOOBIG:
      return data_error("a text or value is too large for the store", path);
    default:
      return internal_error("store: " + detail, path);
  }
}

}  // namespace

Query::Query(Connection& connection, sqlite3_stmt* statement)
    : connection_(&connection), statement_(statement) {}

Query::Query(Query&& other) noexcept
    : connection_(other.connection_), statement_(std::exchange(other.statement_, nullptr)) {}

Query::~Query() {
  if (statement_ != nullptr) sqlite3_reset(statement_);
}

bool Query::next() {
  if (statement_ == nullptr || connection_->failed()) return false;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) connection_->fail_with_code(code);
  return false;
}

int64_t Query::integer(int column) const { return sqlite3_column_int64(statement_, column); }

double Query::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string Query::text(int column) const {
  const auto* const bytes = sqlite3_column_text(statement_, column);
  if (bytes == nullptr) return {};
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return {reinterpret_cast<const char*>(bytes), size};
}

bool Query::null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

bool Query::holds_integer(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_INTEGER;
}

Result<Connection> Connection::open(const std::string& path, OpenMode mode, int busy_timeout_ms) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  std::string name = path;
  switch (mode) {
    case OpenMode::read_write:
      flags |= SQLITE_OPEN_READWRITE;
      break;
    case OpenMode::create:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      break;
    case OpenMode::read_only:
      flags |= SQLITE_OPEN_READONLY;
      break;
    case OpenMode::immutable:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
      name = "file:" + uri_path(path) + "?immutable=1";
      break;
    case OpenMode::memory:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
      break;
  }
  Connection connection;
  connection.path_ = path;
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &db, flags, nullptr);
  connection.db_.reset(db);
  if (code != SQLITE_OK) return error_of_code(code, db, path);
  sqlite3_busy_timeout(db, busy_timeout_ms);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  connection.script("PRAGMA foreign_keys=ON; PRAGMA mmap_size=0;");
  if (Status status = connection.finish(); !status) return status.error();
  return connection;
}

void Connection::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

void Connection::fail_with_code(int code) { fail(error_of_code(code, db_.get(), path_)); }

Status Connection::finish() {
  if (!error_) return {};
  return *std::exchange(error_, std::nullopt);
}

sqlite3_stmt* Connection::prepare(std::string_view sql) {
  if (failed()) return nullptr;
  if (const auto known = statements_.find(sql); known != statements_.end()) {
    return known->second.get();
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) {
    fail_with_code(code);
    return nullptr;
  }
  sql_texts_.emplace_back(sql);
  statements_.emplace(sql_texts_.back(), StatementHandle(statement));
  return statement;
}

bool Connection::step_to_end(sqlite3_stmt* statement) {
  int code = SQLITE_ROW;
  while (!failed() && code == SQLITE_ROW) code = sqlite3_step(statement);
  if (!failed() && code != SQLITE_DONE) fail_with_code(code);
  sqlite3_reset(statement);
  return !failed();
}

bool Connection::script(const std::string& sql) {
  if (failed()) return false;
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail_with_code(code);
  return !failed();
}

bool Connection::has_moved() {
  int moved = 0;
  sqlite3_file_control(db_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0) return true;
  struct stat log {};
  const bool has_log = ::stat((path_ + "-wal").c_str(), &log) == 0;
  if (has_log && !wal_file_) wal_file_ = log.st_ino;
  return wal_file_ && (!has_log || log.st_ino != *wal_file_);
}

std::string Connection::rescued() {
  namespace fs = std::filesystem;
  std::error_code unknown;
  const fs::path folders[] = {fs::path(path_).parent_path(), fs::temp_directory_path(unknown)};
  for (const fs::path& folder : folders) {
    const std::string name = fs::path(path_).filename().string() + ".rescued-";
    for (int number = 1; number < 100; ++number) {
      const std::string copy = (folder / (name + std::to_string(number))).string();
      if (fs::exists(copy, unknown)) continue;
      if (run("VACUUM INTO ?", copy)) return copy;
      static_cast<void>(finish().ok());
      break;
    }
  }
  return {};
}

Status Connection::check_place() {
  if (lost_) return *lost_;
  if (!has_moved()) return {};
  const std::string copy = rescued();
  lost_ = store_error(
      "the store was deleted, moved or replaced while this command wrote it; " +
          (copy.empty() ? "what it held is lost"
                        : "all that was stored until then is in " + copy +
                              ": move it to the old place and run the same command again"),
      path_);
  return *lost_;
}

void Connection::check_bound(int code) {
  if (code != SQLITE_OK) fail_with_code(code);
}

Transaction::Transaction(Connection& connection, std::string_view before_commit)
    : connection_(connection), before_commit_(before_commit) {
  QFS_FAILPOINT_HERE("store.before_begin");
  if (Status there = connection_.check_place(); !there) connection_.fail(there.error());
  connection_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (connection_.in_transaction()) {
    sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  // Whoever left before `commit` has returned an error of its own.
  static_cast<void>(connection_.finish().ok());
}

Status Transaction::commit() {
  QFS_FAILPOINT_HERE(before_commit_);
  if (connection_.run("COMMIT")) QFS_FAILPOINT_HERE("store.after_commit");
  if (Status status = connection_.finish(); !status) return status;
  return connection_.check_place();
}

}  // namespace qfs::store
