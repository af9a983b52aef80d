// Evaluator: the state of claims: out of a store, out of files, out of data sets, out of sizes.
//
// Called by `claims`, `report --table` and `reproduce`. Reads data sets and files when a claim
// needs them, each once. Not thread-safe. A claim that cannot be measured has a state that says
// why; an error means that the store cannot be read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "harness/claims/claim.h"
#include "harness/claims/stored_results.h"
#include "harness/claims/surroundings.h"
#include "harness/claims/verdict.h"
#include "harness/score/files.h"

namespace qfs::claims {

struct Finding {
  const Claim* claim = nullptr;
  State state = State::not_run;
  std::optional<Measured> measured;
  std::string detail;  ///< why there is no number; empty with one
};

/// What `score` reads of these files below `folder`; without metrics.
score::FilesRequest files_request(const FilesQuery& files, const std::string& folder);

class Evaluator {
 public:
  /// `results` may be nullptr: there is no store. Both outlive the evaluator. `missing`: what
  /// becomes of examples without an output where files are scored.
  Evaluator(Lookups& lookups, StoredResults* results,
            score::MissingPolicy missing = score::MissingPolicy::error)
      : lookups_(lookups), results_(results), missing_(missing) {}

  Result<Finding> evaluate(const Claim& claim);

 private:
  Result<Answer> measure(const Claim& claim);
  Result<Answer> measure_score(const Claim& claim);
  Result<Answer> measure_data(const Claim& claim);
  Result<Answer> measure_longest(const Claim& claim);
  /// Files of outputs with a metric, scored once.
  const Result<score::FileScores>& file_scores(const FilesQuery& files, const std::string& metric);

  Lookups& lookups_;
  StoredResults* results_;
  score::MissingPolicy missing_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>,
           Result<score::FileScores>>
      files_;
};

}  // namespace qfs::claims
