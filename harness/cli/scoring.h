// Scoring as the subcommands use it: which metrics a sweep has, and all of them over many results.
// Not thread-safe (one scorer). An error names the result and the metric.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/api/dataset.h"
#include "harness/api/metric.h"
#include "harness/api/result.h"
#include "harness/score/score.h"

namespace qfs::cli {

/// The names of a sweep's metrics, with options, as its file has them.
Result<std::vector<std::string>> metric_names_of_sweep(const store::SweepRow& sweep);

/// The chain of a stored sweep; the identity when it has none.
Result<Postprocess> postprocess_of_sweep(const store::SweepRow& sweep);

/// What a scorer has to be given of a data set of a store: nullptr where the store has its texts,
/// else the data set out of the catalogue. Errors say what to do where references are nowhere.
Result<std::shared_ptr<const Dataset>> unstored_dataset(const store::DatasetRow& row,
                                                        const DatasetCatalog& catalog);

struct ScoringSummary {
  int64_t scored = 0;
  int64_t kept = 0;
  int64_t incomplete = 0;       ///< results whose predictions are not all there
  int64_t refused = 0;          ///< those that will not be: inputs were too long for the model
  std::vector<Error> failures;  ///< of metrics on cells; the first is the command's
};

/// Every metric over every result, with the bootstrap's intervals. A metric that fails is not asked
/// again; the others go on.
Result<ScoringSummary> score_results(score::Scorer& scorer, const Postprocess& postprocess,
                                     std::span<const store::ResultId> results,
                                     std::span<const std::shared_ptr<const Metric>> metrics,
                                     bool allow_partial = false);

/// A predict result and how its cell is called.
struct NamedResult {
  store::ResultId result;
  std::string name;
};

/// Warns of each result that has empty outputs, with their number: a table of 0.00 has to say why.
Status warn_of_empty_outputs(store::Reader& reader, std::span<const NamedResult> results);

}  // namespace qfs::cli
