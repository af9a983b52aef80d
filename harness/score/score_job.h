// The parts of a score job: what is scored, its items out of a store, its statistics, values and
// intervals.
//
// Private to harness/score: Scorer makes and stores jobs, recount.h makes them again and compares.
// Not thread-safe (one reader).
#pragma once

#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/core/postprocess.h"
#include "harness/score/bootstrap_intervals.h"
#include "harness/score/item_source.h"
#include "harness/store/reader.h"

namespace qfs::score {

/// What one job works on.
struct Subject {
  store::ResultRow result;
  store::CellRow cell;
  std::vector<ScoreItem> items;  ///< by ordinal, with processed candidates
  int64_t refused = 0;           ///< outputs without an item: overlength
  Json postprocess{"[]"};        ///< the chain that made candidates of outputs
  std::vector<bool> processed;   ///< whether a candidate differs from its output
};

/// The outputs of a predict result, their texts not yet read.
Result<Subject> subject_of(store::Reader& reader, store::ResultId id);

/// Candidates with what the metric needs. An output that was skipped for its length is no
/// prediction and has no item.
Status read_items(store::Reader& reader, ItemSource& source, const Metric& metric,
                  const Postprocess* postprocess, Subject& subject);

store::ScoreJob empty_job(const ScoreId& id, const Subject& subject, const Metric& metric);

/// Adds intervals to a job whose statistics and scores are there; without an estimator nothing.
Status add_intervals(store::ScoreJob& job, const Metric& metric,
                     const std::vector<Statistics>& statistics,
                     const std::vector<std::string>& clusters, const BootstrapIntervals* estimator);

/// Statistics and corpus values of all items. A metric that gives another number of rows or values
/// is an `internal` error.
Result<store::ScoreJob> measured_job(const ScoreId& id, const Subject& subject,
                                     const Metric& metric, const BootstrapIntervals* estimator);

}  // namespace qfs::score
