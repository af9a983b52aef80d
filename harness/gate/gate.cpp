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
    GateInput fresh = input_;
    if (Status refused = leave_out_stale(fresh, outcome.quality.missing); !refused) {
      return refused.error();
    }
    if (Status compared = compare_quality(fresh, outcome); !compared) return compared.error();
    if (Status banded = check_bands(fresh, outcome); !banded) return banded.error();
    if (Status limited = check_limits(fresh.candidate, outcome); !limited) return limited.error();
    return outcome;
  }

 private:
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

  Status compare_quality(const GateInput& input, Outcome& outcome) const {
    std::vector<compare::NotCompared> missing = std::move(outcome.quality.missing);
    const auto compare = [&](const StoredSide& a, const StoredSide& b) -> Status {
      auto compared = compare::compare_stores(a, b, policy_.request, catalog_, input.declared);
      if (!compared) return compared.error();
      outcome.quality = *std::move(compared);
      return {};
    };
    if (policy_.repeats == 1) {
      if (Status done = compare(input.baseline, input.candidate); !done) return done;
    } else {
      RepeatedCells baseline(input.baseline, policy_.repeats);
      RepeatedCells candidate(input.candidate, policy_.repeats);
      if (Status done = compare(baseline.side(), candidate.side()); !done) return done;
      for (RepeatedCells* side : {&baseline, &candidate}) {
        for (const auto& [cell, runs] : side->short_of_runs()) {
          missing.push_back({compare::cell_name(*cell, shown_),
                             fmt::format("{} of {} repeats (seeds) in {}", runs, policy_.repeats,
                                         side->side().name)});
        }
      }
    }
    auto& all = outcome.quality.missing;
    all.insert(all.end(), missing.begin(), missing.end());
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
      const bool same_machine = before->hardware.text == now->hardware.text;
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
          {"every cell", fmt::format("{} is measured in none of the baseline", band.value)});
    }
    return {};
  }

  Status check_limits(const StoredSide& candidate, Outcome& outcome) const {
    for (const Limit& limit : policy_.limits) {
      bool found = false;
      std::vector<std::string> known;
      for (const StoredCell* cell : compare::shown_once(candidate.cells)) {
        std::optional<double> value;
        if (is_measured(limit.value)) {
          const auto measured = candidate.source->measured(*cell);
          if (!measured) return measured.error();
          const auto own = measured->values.find(limit.value);
          if (own != measured->values.end()) {
            value = own->second.median * measured_scale(limit.value);
          }
        } else {
          value = score_of(*cell, limit.value, known);
        }
        if (!value) continue;
        found = true;
        LimitCheck& check = outcome.limits.emplace_back(judge_limit(limit, *value));
        check.cell = compare::cell_name(*cell, shown_);
      }
      if (found) continue;
      return not_found(fmt::format("no cell of the candidate has '{}', which a limit is about{}",
                                   limit.value, suggestion(limit.value, known)));
    }
    return {};
  }

  static std::optional<double> score_of(const StoredCell& cell, const std::string& column,
                                        std::vector<std::string>& known) {
    for (const store::ScoreJobRow& job : cell.scores) {
      for (const store::ScoreRow& score : job.scores) {
        known.push_back(score.name);
        if (score.name == column) return score.value * table_scale(column);
      }
    }
    return std::nullopt;
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
