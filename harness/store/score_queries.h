// Queries for stored score jobs, shared by the writer and the reader. Private to harness/store; not
// thread-safe (they use a connection's cached statements). Errors are those of the connection, or
// `store` for a row that nobody could have written.
#pragma once

#include <optional>
#include <vector>

#include "harness/api/result.h"
#include "harness/store/rows.h"
#include "harness/store/sqlite.h"

namespace qfs::store {

Result<std::optional<ScoreJobRow>> score_job(Connection& db, const ScoreId& id);

/// By metric and signature.
Result<std::vector<ScoreJobRow>> score_jobs(Connection& db, ResultId result);

Result<std::vector<StatisticRow>> score_statistics(Connection& db, const ScoreId& id);

}  // namespace qfs::store
