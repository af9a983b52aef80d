// The scores of what a run completed, by the metrics of its plan.
// Not thread-safe. A metric that fails is in the summary; an error means that the store or a data
// set cannot be used.
#pragma once

#include <vector>

#include "harness/api/json.h"
#include "harness/api/result.h"
#include "harness/cli/scoring.h"
#include "harness/plan/plan.h"
#include "harness/run/run.h"
#include "harness/store/reader.h"
#include "harness/store/store.h"

namespace qfs::cli {

struct RunScores {
  std::vector<NamedResult> results;  ///< what was scored
  Json postprocess;                  ///< the chain that made the scored texts
  ScoringSummary summary;
};

Result<RunScores> score_run(const plan::Plan& plan, store::Store& store, store::Reader& reader,
                            const run::RunSummary& summary);

}  // namespace qfs::cli
