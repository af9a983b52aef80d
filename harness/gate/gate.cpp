#include "harness/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "harness/api/metric_columns.h"
#include "harness/core/clock.h"
#include "harness/core/json_dom.h"
#include "harness/core/suggest.h"
#include "harness/gate/repeats.h"

namespace qfs::gate {
namespace {

using compare::StoredCell;
using compare::StoredSide;
using compare::Verdict;

/// A time as stores and people write it ("2026-01-31T12:00:00Z"), to be compared.
double seconds_of(const std::string& utc) { return utc_seconds(utc).value_or(0); }

/// Why answers of a live server are refused; empty where they are fresh.
Result<std::string> staleness(const StoredCell& baseline, compare::CellSource& baseline_source,
                              const StoredCell& candidate, compare::CellSource& candidate_source,
                              const std::string& made_since) {
  const auto now = candidate_source.made(candidate);
  if (!now) return now.error();
  const auto before = baseline_source.made(baseline);
  if (!before) return before.error();
  const std::string& since = made_since.empty() ? before->last : made_since;
  if (now->first.empty()) return std::string("nothing says when the live answers were made");
  if (since.empty() || seconds_of(now->first) > seconds_of(since)) return std::string();
  return fmt::format(
      "refused: the answers of a live server were made at {}, not after {}; run the sweep into a "
      "new store",
      now->first, since);
}

/// A value of one cell that a limit is about, as tables show it.
struct Limited {
  double value = 0;
  std::string score;  ///< by what it was computed; empty where the limit's name says it
  bool declared = true;
};

/// "rougeL.f" of every metric that the sweeps declare, else of all that have it;
/// "rouge/rougeL.f" of that metric. `known` gets the names that the cell has.
std::vector<Limited> scores_of(const StoredCell& cell, const std::string& name,
                               const std::vector<std::string>& declared,
                               std::vector<std::string>& known) {
  const size_t slash = name.rfind('/');
  const std::string column = name.substr(slash + 1);
  std::vector<Limited> found;
  for (const store::ScoreJobRow& job : cell.scores) {
    for (const store::ScoreRow& score : job.scores) {
      known.push_back(score.name);
      known.push_back(job.metric + "/" + score.name);
      if (score.name != column || (slash != name.npos && job.metric != name.substr(0, slash))) {
        continue;
      }
      found.push_back({score.value * table_scale(column), job.signature,
                       std::ranges::count(declared, job.metric) > 0});
    }
  }
  if (slash == name.npos && std::ranges::any_of(found, &Limited::declared)) {
    std::erase_if(found, [](const Limited& one) { return !one.declared; });
  }
  if (found.size() == 1) found.front().score.clear();
  return found;
}

/// Why a cell of the candidate has nothing to hold against a limit; empty where it is none of those
/// that should (a method without a model decodes no tokens).
std::string lack_of(const StoredCell& cell, const Limit& limit) {
  if (!is_measured(limit.value)) return cell.scores.empty() ? "it has no score" : "";
  if (!cell.measure || cell.measure->status == store::Completeness::complete) return "";
  const store::ResultRow& timed = *cell.measure;
  if (timed.status == store::Completeness::failed) {
    return fmt::format("its timed run failed ({})", to_string(timed.failure));
  }
  return fmt::format("{} of {} repetitions were timed", timed.done, timed.expected);
}

/// What a limit holds of one cell; none where it has no such value.
Result<std::vector<Limited>> limited_of(const StoredCell& cell, compare::CellSource& source,
                                        const Limit& limit,
                                        const std::vector<std::string>& declared,
                                        std::vector<std::string>& known) {
  if (!is_measured(limit.value)) return scores_of(cell, limit.value, declared, known);
  const auto measured = source.measured(cell);
  if (!measured) return measured.error();
  const auto own = measured->values.find(limit.value);
  if (own == measured->values.end()) return std::vector<Limited>();
  return std::vector{Limited{own->second.median * measured_scale(limit.value), "", true}};
}

/// What the candidate's cells lack is missing; a column that they do not know is a mistake.
Status check_limits(const GateInput& input, const Policy& policy,
                    const std::set<std::string>& shown, Outcome& outcome) {
  const StoredSide& candidate = input.candidate;
  auto& missing = outcome.quality.missing;
  for (const Limit& limit : policy.limits) {
    bool found = false;
    std::vector<std::string> known;
    for (const StoredCell* cell : compare::shown_once(candidate.cells)) {
      const auto values = limited_of(*cell, *candidate.source, limit, input.declared, known);
      if (!values) return values.error();
      const std::string name = compare::cell_name(*cell, shown);
      for (const Limited& limited : *values) {
        LimitCheck& check = outcome.limits.emplace_back(judge_limit(limit, limited.value));
        check.cell = name;
        check.score = limited.score;
      }
      const std::string lack = values->empty() ? lack_of(*cell, limit) : "";
      if (!lack.empty()) missing.push_back({name, fmt::format("{}: {}", limit.value, lack)});
      found = found || !values->empty() || !lack.empty();
    }
    if (found) continue;
    if (known.empty()) {
      missing.push_back({"every cell", "the candidate has no " + limit.value});
    } else {
      return not_found(fmt::format("no cell of the candidate has '{}', which a limit is about{}",
                                   limit.value, suggestion(limit.value, known)));
    }
  }
  return {};
}

class Gate {
 public:
  Gate(const GateInput& input, const Policy& policy, const MetricCatalog& catalog)
      : input_(input), policy_(policy), catalog_(catalog) {
    compare::Cells all = input.baseline.cells;
    all.insert(all.end(), input.candidate.cells.begin(), input.candidate.cells.end());
    shown_ = compare::telling_dimensions(all);
  }

  Result<Outcome> run() {
    Outcome outcome{.quality = {}, .bands = {}, .limits = {}};
    outcome.level = policy_.request.level;
    outcome.power_at = policy_.power_at;
    outcome.repeats = policy_.repeats;
    GateInput input = input_;
    if (policy_.repeats == 1) {
      if (Status judged = judge(input, outcome); !judged) return judged.error();
      return outcome;
    }
    RepeatedCells baseline(input_.baseline, policy_.repeats);
    RepeatedCells candidate(input_.candidate, policy_.repeats);
    input.baseline = baseline.side();
    input.candidate = candidate.side();
    std::set<std::string> shown = shown_;
    shown.erase("seed");
    shown.erase("cell");
    if (Status judged = judge(input, outcome); !judged) return judged.error();
    for (RepeatedCells* side : {&baseline, &candidate}) {
      for (const auto& [cell, runs] : side->short_of_runs()) {
        const std::string name = compare::cell_name(*cell, shown);
        // That it has no partner for that reason need not be said, too.
        std::erase_if(outcome.quality.missing,
                      [&](const auto& other) { return other.name == name; });
        outcome.quality.missing.push_back({name, fmt::format("{} of {} repeats (seeds) in {}", runs,
                                                             policy_.repeats, side->side().name)});
      }
    }
    return outcome;
  }

 private:
  Status judge(GateInput& input, Outcome& outcome) const {
    std::vector<compare::NotCompared> stale;
    if (Status refused = leave_out_stale(input, stale); !refused) return refused;
    auto compared = compare::compare_stores(input.baseline, input.candidate, policy_.request,
                                            catalog_, input.declared);
    if (!compared) return compared.error();
    outcome.quality = *std::move(compared);
    outcome.quality.missing.insert(outcome.quality.missing.end(), stale.begin(), stale.end());
    if (Status banded = check_bands(input, outcome); !banded) return banded;
    return check_limits(input, policy_, shown_, outcome);
  }

  Status leave_out_stale(GateInput& input, std::vector<compare::NotCompared>& missing) const {
    const auto pairing =
        compare::pair_sides(input.baseline, input.candidate, policy_.request.pair_by);
    if (!pairing) return pairing.error();
    for (const auto& [a, b] : pairing->pairs) {
      if (!is_live(b->cell) || !b->predict) continue;
      const auto stale =
          staleness(*a, *input.baseline.source, *b, *input.candidate.source, input.made_since);
      if (!stale) return stale.error();
      if (stale->empty()) continue;
      missing.push_back({compare::cell_name(*a, shown_), *stale});
      std::erase_if(input.baseline.cells,
                    [a = a](const auto* c) { return c->cell.id == a->cell.id; });
      std::erase_if(input.candidate.cells,
                    [b = b](const auto* c) { return c->cell.id == b->cell.id; });
    }
    return {};
  }

  Status check_bands(const GateInput& input, Outcome& outcome) const {
    if (policy_.bands.empty()) return {};
    const auto pairing =
        compare::pair_sides(input.baseline, input.candidate, policy_.request.pair_by);
    if (!pairing) return pairing.error();
    std::set<std::string> found;
    for (const auto& [a, b] : pairing->pairs) {
      const auto before = input.baseline.source->measured(*a);
      if (!before) return before.error();
      const auto now = input.candidate.source->measured(*b);
      if (!now) return now.error();
      const bool same_machine =
          !before->several_machines && !now->several_machines && before->machine == now->machine;
      for (const Band& band : policy_.bands) {
        const auto was = before->values.find(band.value);
        if (was == before->values.end()) continue;  // a method without a model decodes nothing
        found.insert(band.value);
        const std::string cell = compare::cell_name(*a, shown_);
        const auto is = now->values.find(band.value);
        if (is == now->values.end()) {
          outcome.quality.missing.push_back(
              {cell, fmt::format("{} was measured in the baseline and is not in the candidate",
                                 band.value)});
          continue;
        }
        BandCheck& check =
            outcome.bands.emplace_back(judge_band(band, was->second, is->second, same_machine));
        check.cell = cell;
      }
    }
    for (const Band& band : policy_.bands) {
      if (found.contains(band.value) || pairing->pairs.empty()) continue;
      outcome.quality.missing.push_back(
          {"every cell", fmt::format("{} is measured in none of the baseline; a file holds it by "
                                     "'qfs-bench baseline set --measured'",
                                     band.value)});
    }
    return {};
  }

  const GateInput& input_;
  const Policy& policy_;
  const MetricCatalog& catalog_;
  std::set<std::string> shown_;
};

}  // namespace

Conclusion Outcome::conclusion() const {
  const auto any = [&](Verdict verdict) {
    const auto is = [&](const auto& check) { return check.verdict == verdict; };
    return quality.any(verdict) || std::ranges::any_of(bands, is) ||
           std::ranges::any_of(limits, is);
  };
  if (any(Verdict::worse)) return Conclusion::worse;
  if (!quality.complete()) return Conclusion::incomplete;
  return any(Verdict::cannot_decide) ? Conclusion::cannot_decide : Conclusion::pass;
}

Result<Outcome> run_gate(const GateInput& input, const Policy& policy,
                         const MetricCatalog& catalog) {
  return Gate(input, policy, catalog).run();
}

bool is_live(const store::CellRow& cell) {
  const auto identity = parse_json(cell.identity.text, "identity");
  return identity && identity->is_object() && identity->contains("sweep");
}

std::string_view to_string(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::pass:
      return "pass";
    case Conclusion::worse:
      return "worse";
    case Conclusion::cannot_decide:
      return "cannot_decide";
    case Conclusion::incomplete:
      return "incomplete";
  }
  return "incomplete";
}

}  // namespace qfs::gate
