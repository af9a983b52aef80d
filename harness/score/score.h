// Scorer: metrics over stored predictions. Reads outputs and references from a store, measures,
// aggregates, asks for intervals, and stores one score job a (result, metric) in one transaction.
//
// Called by `sweep` and `score`; needs no model and no host. Idempotent: a complete job with the
// same score_id is left alone. Not thread-safe (one store, one reader). A metric that fails is an
// error that names the result and the metric; it never becomes a 0.
#pragma once

#include <memory>
#include <string>

#include "harness/api/dataset.h"
#include "harness/api/ids.h"
#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/core/postprocess.h"
#include "harness/score/bootstrap_intervals.h"
#include "harness/score/notes.h"
#include "harness/store/reader.h"
#include "harness/store/store.h"

namespace qfs::score {

struct ScoreOptions {
  const Postprocess* postprocess = nullptr;  ///< none: outputs are scored as they are
  bool allow_partial = false;                ///< score what is there; the job is marked by its n
  const BootstrapIntervals* intervals = nullptr;  ///< none: values only
};

enum class ScoreAction {
  scored,      ///< measured and stored
  kept,        ///< was there already
  incomplete,  ///< predictions are missing and `allow_partial` was not given
};

struct ScoreOutcome {
  ScoreAction action = ScoreAction::scored;
  ScoreId id;
  int64_t n = 0;         ///< examples scored
  int64_t expected = 0;  ///< examples of the cell
  int64_t refused = 0;   ///< of them, inputs too long for the model: they will have no prediction
  ScoringNotes notes;    ///< of what was measured now
};

/// What a score was computed by: the metric's signature and, unless it is the identity, the chain
/// that made the scored texts ("…|post:[\"strip\"]"). Results are comparable when it is equal.
std::string scored_signature(const Metric& metric, const Json& postprocess);

/// What was scored, by which metric: the id of a score job.
ScoreId score_id(const CellId& cell, const NumericsId& numerics, const Json& postprocess,
                 const Metric& metric);

class Scorer {
 public:
  /// `reader` reads the file that `store` writes; both outlive the scorer.
  Scorer(store::Store& store, store::Reader& reader);
  ~Scorer();

  /// Texts of a data set that the store keeps as hashes only (`no_redistribution`, documents not
  /// stored). `data` when its examples are not those of the store.
  Status use_dataset(std::shared_ptr<const Dataset> dataset);

  /// Scores one predict result with one metric.
  Result<ScoreOutcome> score(store::ResultId result, const Metric& metric,
                             const ScoreOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace qfs::score
