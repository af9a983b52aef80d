// A thin RAII layer over SQLite's C interface: connection, cached statements, transactions.
//
// Used inside harness/store only. Not thread-safe. Errors are sticky: after the first failure every
// further call on the connection does nothing, so that a function can issue its statements one
// after the other and ask once, with `finish()` or `Transaction::commit()`, whether all of them
// worked.
#pragma once

#include <sqlite3.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "harness/api/result.h"

namespace qfs::store {

/// How long a statement waits for another process, where nobody says.
inline constexpr int kBusyTimeoutMs = 10000;

class Connection;

/// A row cursor over a cached statement. Ends (and may be reused) when destroyed. Two cursors of
/// one SQL text may not be open at once on one connection.
class Query {
 public:
  Query(Connection& connection, sqlite3_stmt* statement);
  Query(Query&& other) noexcept;
  Query& operator=(Query&&) = delete;
  ~Query();

  /// Moves to the next row; false at the end and after a failure.
  bool next();
  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool null(int column) const;
  /// Whether an ANY column holds an integer here.
  bool holds_integer(int column) const;

 private:
  Connection* connection_;
  sqlite3_stmt* statement_;  ///< nullptr: preparing or binding failed
};

enum class OpenMode {
  read_write,  ///< an existing file
  create,      ///< made when there is none
  read_only,   ///< shares the write-ahead log with a writer
  immutable,   ///< read-only, no other process can write: no locks, no log
  memory,      ///< a private database in memory
};

class Connection {
 public:
  static Result<Connection> open(const std::string& path, OpenMode mode, int busy_timeout_ms);

  /// Runs a statement to its end; false when it, or anything before it, failed.
  template <class... Args>
  bool run(std::string_view sql, const Args&... args) {
    sqlite3_stmt* const statement = prepare(sql);
    if (statement == nullptr) return false;
    int index = 0;
    (bind(statement, ++index, args, SQLITE_STATIC), ...);
    return step_to_end(statement);
  }

  template <class... Args>
  Query query(std::string_view sql, const Args&... args) {
    sqlite3_stmt* const statement = prepare(sql);
    int index = 0;
    if (statement != nullptr) (bind(statement, ++index, args, SQLITE_TRANSIENT), ...);
    return {*this, statement};
  }

  /// Several statements in one text, without parameters and results.
  bool script(const std::string& sql);
  /// The first column of the first row; 0 when there is none.
  template <class... Args>
  int64_t integer(std::string_view sql, const Args&... args) {
    Query rows = query(sql, args...);
    return rows.next() ? rows.integer(0) : 0;
  }

  int64_t last_row_id() const { return sqlite3_last_insert_rowid(db_.get()); }
  /// Rows that the last statement changed.
  int64_t changes() const { return sqlite3_changes64(db_.get()); }
  bool in_transaction() const { return sqlite3_get_autocommit(db_.get()) == 0; }
  sqlite3* handle() const { return db_.get(); }
  const std::string& path() const { return path_; }
  /// What messages call the file; its path at first.
  void name_in_errors(std::string name) { path_ = std::move(name); }

  /// A `store` error when the file is no longer the one at its path: whatever is written would be
  /// lost. What was committed is then saved in another file, which the message names.
  Status check_place();

  bool failed() const { return error_.has_value(); }
  /// Records a failure of the caller's own, as if a statement had failed.
  void fail(Error error);
  /// Records what SQLite says about `code`.
  void fail_with_code(int code);
  /// Whether everything since the last `finish` worked; forgets the failure.
  Status finish();
  /// `value`, or the failure.
  template <class T>
  Result<T> finish(T value) {
    if (Status status = finish(); !status) return status.error();
    return value;
  }

 private:
  struct Closer {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using StatementHandle = std::unique_ptr<sqlite3_stmt, Finalizer>;

  Connection() = default;
  sqlite3_stmt* prepare(std::string_view sql);
  bool step_to_end(sqlite3_stmt* statement);
  void check_bound(int code);

  void bind(sqlite3_stmt* s, int i, int64_t value, sqlite3_destructor_type) {
    check_bound(sqlite3_bind_int64(s, i, value));
  }
  void bind(sqlite3_stmt* s, int i, int value, sqlite3_destructor_type) {
    check_bound(sqlite3_bind_int64(s, i, value));
  }
  void bind(sqlite3_stmt* s, int i, bool value, sqlite3_destructor_type) {
    check_bound(sqlite3_bind_int64(s, i, value ? 1 : 0));
  }
  void bind(sqlite3_stmt* s, int i, double value, sqlite3_destructor_type) {
    check_bound(sqlite3_bind_double(s, i, value));
  }
  void bind(sqlite3_stmt* s, int i, std::string_view value, sqlite3_destructor_type lifetime) {
    // A null pointer would bind NULL instead of the empty text.
    const char* const bytes = value.data() == nullptr ? "" : value.data();
    check_bound(sqlite3_bind_text64(s, i, bytes, value.size(), lifetime, SQLITE_UTF8));
  }
  void bind(sqlite3_stmt* s, int i, const std::string& value, sqlite3_destructor_type lifetime) {
    bind(s, i, std::string_view(value), lifetime);
  }
  void bind(sqlite3_stmt* s, int i, const char* value, sqlite3_destructor_type lifetime) {
    bind(s, i, std::string_view(value), lifetime);
  }
  void bind(sqlite3_stmt* s, int i, std::nullopt_t, sqlite3_destructor_type) {
    check_bound(sqlite3_bind_null(s, i));
  }
  template <class T>
  void bind(sqlite3_stmt* s, int i, const std::optional<T>& value,
            sqlite3_destructor_type lifetime) {
    if (value.has_value()) {
      bind(s, i, *value, lifetime);
    } else {
      bind(s, i, std::nullopt, lifetime);
    }
  }

  std::unique_ptr<sqlite3, Closer> db_;  // declared first: statements end before it
  std::unordered_map<std::string_view, StatementHandle> statements_;
  std::deque<std::string> sql_texts_;  // what the keys of statements_ point into
  bool has_moved();
  /// The path of a copy of everything committed; empty when none can be made.
  std::string rescued();

  std::string path_;
  std::optional<Error> error_;
  std::optional<Error> lost_;      ///< what check_place found
  std::optional<ino_t> wal_file_;  ///< the write-ahead log, once there is one
};

/// BEGIN IMMEDIATE … COMMIT, with the file in its place before and after; rolls back when it is
/// destroyed before a successful commit. Names the failpoints store.before_begin,
/// store.before_commit (or `before_commit`) and store.after_commit.
class Transaction {
 public:
  explicit Transaction(Connection& connection,
                       std::string_view before_commit = "store.before_commit");
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  Status commit();

 private:
  Connection& connection_;
  std::string_view before_commit_;
};

}  // namespace qfs::store
