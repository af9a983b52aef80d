// run_gate: a baseline's cells against a candidate's under a policy: quality by paired tests, speed
// and memory by bands, absolute limits, and what could not be compared.
//
// Called by `gate`. Not thread-safe (it reads by the sides' sources). Errors are those of the
// sources, or name a column or a value that no cell has; what is missing or stale is no error but a
// part of the outcome.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/compare/compare_stores.h"
#include "harness/gate/bands.h"
#include "harness/gate/policy.h"

namespace qfs::gate {

enum class Conclusion { pass, worse, cannot_decide, incomplete };

struct Outcome {
  compare::Outcome quality;  ///< its `missing`: also what was refused, or not measured
  std::vector<BandCheck> bands;
  std::vector<LimitCheck> limits;
  double level = compare::kLevel;  ///< the declared chance of a false alarm
  std::vector<double> power_at;    ///< points
  int64_t repeats = 1;

  /// `worse` before `incomplete` before `cannot_decide`.
  Conclusion conclusion() const;
};

struct GateInput {
  compare::StoredSide baseline;
  compare::StoredSide candidate;
  std::vector<std::string> declared;  ///< names of the metrics of both sweeps
  std::string made_since;  ///< UTC: answers of a live server must be this new; empty: newer than
                           ///< the baseline's
};

Result<Outcome> run_gate(const GateInput& input, const Policy& policy,
                         const MetricCatalog& catalog);

/// Whether the cell promises nothing about the model behind it, so that equal ids are no reason to
/// keep its answers (`"revision": "live"`).
bool is_live(const store::CellRow& cell);

std::string_view to_string(Conclusion conclusion);  ///< "cannot_decide"

}  // namespace qfs::gate
