// Verdicts on measured values: a band around the baseline's median, and an absolute limit.
//
// Used by run_gate. Times of one machine are compared only with times of the same; memory with any.
// A median outside its band is `worse` when even the best repetition of the candidate lies outside
// it against the worst of the baseline, else it may be chance. Pure; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/compare/cell_source.h"
#include "harness/gate/policy.h"

namespace qfs::gate {

enum class BandDoubt { none, few_repetitions, other_machine, may_be_chance };

struct BandCheck {
  std::string cell;
  Band band;
  compare::Repeated baseline;
  compare::Repeated candidate;
  double ratio = 1;  ///< of the medians
  compare::Verdict verdict = compare::Verdict::not_worse;
  BandDoubt doubt = BandDoubt::none;
};

/// `same_machine`: as far as the two say.
BandCheck judge_band(const Band& band, const compare::Repeated& baseline,
                     const compare::Repeated& candidate, bool same_machine);

struct LimitCheck {
  std::string cell;
  Limit limit;
  double value = 0;        ///< the candidate's, as tables show it
  std::string score = {};  ///< signature, where several scores of the cell have the column
  compare::Verdict verdict = compare::Verdict::not_worse;
};

LimitCheck judge_limit(const Limit& limit, double value);

std::string_view to_string(BandDoubt doubt);

}  // namespace qfs::gate
