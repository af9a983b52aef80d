// StoreState: what a Store holds, and helpers that its parts (store_*.cpp) share. Private to those
// files; not thread-safe. Helpers that write run inside the caller's transaction and report through
// its connection's sticky failure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/json.h"
#include "harness/api/result.h"
#include "harness/store/rows.h"
#include "harness/store/sqlite.h"
#include "harness/store/store.h"
#include "harness/store/store_lock.h"

namespace qfs::store {

/// What every commit to a result needs to know; it never changes.
struct ResultFacts {
  ResultKind kind = ResultKind::predict;
  std::string numerics;
  std::vector<int64_t> ordinals;  ///< of its cell, ascending
  std::vector<std::string> roles;
  bool keep_prompts = false;  ///< a prompt holds the document, so it is kept where documents are
};

struct StoreState {
  std::string path;
  StoreLock lock;  // declared before the connection: released after it is closed
  Connection db;
  std::map<int64_t, ResultFacts> facts;

  /// `internal` for a result that is not in this store.
  Result<const ResultFacts*> facts_of(ResultId result);
  /// The same for a result of this kind; `internal` for another, which takes no `fact`.
  Result<const ResultFacts*> facts_of(ResultId result, ResultKind kind, std::string_view fact);
  /// Fails the connection unless the attempt is a running one of this result.
  void expect_running(AttemptId attempt, ResultId result);
  /// Fails the connection with this message unless the last statement changed exactly one row.
  void expect_one_change(const std::string& otherwise);
  /// Fails the connection unless this is JSON; `what` names it.
  void expect_json(const Json& value, std::string_view what);
  /// Fails the connection unless this is valid UTF-8.
  void expect_utf8(std::string_view text);
  /// Stores a text (once) and returns its digest; fails the connection for ill-formed UTF-8.
  std::string put_text(std::string_view body);
};

/// A column that is NULL instead of empty.
inline std::optional<std::string_view> unless_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// SHA-256 over a versioned prefix and canonical parts, for sweep and environment ids.
std::string parts_digest(std::string_view kind, const std::vector<std::string_view>& parts);

}  // namespace qfs::store
