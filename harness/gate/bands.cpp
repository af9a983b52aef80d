#include "harness/gate/bands.h"

#include <algorithm>

namespace qfs::gate {

using compare::Repeated;
using compare::Verdict;

BandCheck judge_band(const Band& band, const Repeated& baseline, const Repeated& candidate,
                     bool same_machine) {
  BandCheck check{.cell = {}, .band = band, .baseline = baseline, .candidate = candidate};
  check.ratio = candidate.median / baseline.median;
  const bool at_most = less_is_better(band.value);
  const auto outside = [&](double ratio) {
    return at_most ? ratio > band.ratio : ratio < band.ratio;
  };
  const double best = at_most ? candidate.low / baseline.high : candidate.high / baseline.low;
  if (is_time(band.value) && !same_machine) {
    check.doubt = BandDoubt::other_machine;
  } else if (std::min(baseline.repetitions, candidate.repetitions) < band.minimum_repetitions) {
    check.doubt = BandDoubt::few_repetitions;
  } else if (outside(best)) {
    check.verdict = Verdict::worse;
    return check;
  } else if (outside(check.ratio)) {
    check.doubt = BandDoubt::may_be_chance;
  }
  if (check.doubt != BandDoubt::none) check.verdict = Verdict::cannot_decide;
  return check;
}

LimitCheck judge_limit(const Limit& limit, double value) {
  const bool kept = limit.at_least ? value >= limit.bound : value <= limit.bound;
  LimitCheck check{.cell = {}, .limit = limit, .value = value};
  if (!kept) check.verdict = Verdict::worse;
  return check;
}

std::string_view to_string(BandDoubt doubt) {
  switch (doubt) {
    case BandDoubt::few_repetitions:
      return "few_repetitions";
    case BandDoubt::other_machine:
      return "other_machine";
    case BandDoubt::may_be_chance:
      return "may_be_chance";
    case BandDoubt::none:
      break;
  }
  return "none";
}

}  // namespace qfs::gate
