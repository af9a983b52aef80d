// Queries that the writer and the reader share: rows of attempts, columns of numbers. Private to
// harness/store; errors are those of the connection, or `store` for a row that nobody could have
// written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/api/result.h"
#include "harness/store/rows.h"
#include "harness/store/sqlite.h"

namespace qfs::store {

/// The first column of a query with one parameter, a result.
Result<std::vector<int64_t>> integer_column(Connection& db, std::string_view sql, ResultId result);

/// Attempts of a result, oldest first.
Result<std::vector<AttemptRow>> attempts_of(Connection& db, ResultId result);

/// The only row of a list that holds one or none.
template <class T>
Result<std::optional<T>> at_most_one(Result<std::vector<T>> rows) {
  if (!rows) return rows.error();
  std::optional<T> row;
  if (!rows->empty()) row = std::move(rows->front());
  return row;
}

/// A row or text whose digest says that it is not what was stored.
Error changed_outside(const Connection& db, const std::string& what);

/// "the store is damaged: <what> is not readable".
Error damaged(const Connection& db, const std::string& what);

}  // namespace qfs::store
