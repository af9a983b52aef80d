// LearnedPace: how long examples took in results that a store has, for methods whose speed nobody
// can foresee: programs of the user and servers.
//
// Used by `plan` and by a run before its first cell. Never part of an id. Errors are the store's.
#pragma once

#include <optional>
#include <vector>

#include "harness/api/result.h"
#include "harness/plan/plan.h"
#include "harness/store/reader.h"

namespace qfs::run {

struct LearnedPace {
  double seconds = 0;  ///< that `examples` took together
  double examples = 0;
};

/// How long the rows of a result took; 0 where a killed attempt, whose end nobody saw, took part.
Result<double> seconds_of_attempts(store::Reader& reader, store::ResultId result);

/// By cell of the plan: of the stored cells of its method, those that share most of its parameters,
/// whatever sweep or data they were of. Nothing for other methods and where none has run.
Result<std::vector<std::optional<LearnedPace>>> learned_paces(const plan::Plan& plan,
                                                              store::Reader& reader);

}  // namespace qfs::run
