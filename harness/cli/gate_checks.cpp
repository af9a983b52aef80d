#include "harness/cli/gate_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "harness/cli/decision_text.h"
#include "harness/core/counted.h"

namespace qfs::cli {
namespace {

using compare::ComparedColumn;
using compare::Comparison;
using compare::Verdict;
using gate::BandCheck;
using gate::BandDoubt;
using gate::LimitCheck;

CheckState state_of(Verdict verdict) {
  return verdict == Verdict::worse           ? CheckState::worse
         : verdict == Verdict::cannot_decide ? CheckState::cannot_decide
                                             : CheckState::not_worse;
}

GateCheck quality_check(const Comparison& comparison, const ComparedColumn& column) {
  const Shown shown(column.name);
  GateCheck check;
  check.state = state_of(column.decision->verdict);
  check.cell = comparison.cell;
  check.value = column.name;
  check.rule = "margin";
  check.baseline = shown.value(column.a);
  check.candidate = shown.value(column.b);
  check.change = shown.change(column.difference.difference);
  check.differs = column.higher + column.lower > 0;
  const bool lower_by_rounding = !check.differs && check.state == CheckState::not_worse;
  check.sentence = lower_by_rounding ? "PASS: no example has another score"
                                     : decision_text(column, comparison.unit);
  if (column.decision->margin.noise > 0) {
    check.sentence +=
        fmt::format("; numerics alone change {}", shown.points(column.decision->margin.noise));
  }
  if (comparison.empty_b > comparison.empty_a) {
    check.sentence += fmt::format("; {} of {} outputs of the candidate are empty",
                                  comparison.empty_b, comparison.examples);
  }
  return check;
}

/// "491 MiB", "114.7"
std::string measured_text(const std::string& name, double value) {
  const double shown = value * gate::measured_scale(name);
  return gate::is_time(name) ? fmt::format("{:.4g}", shown) : fmt::format("{:.1f} MiB", shown);
}

std::string range_text(const std::string& name, const compare::Repeated& value) {
  return fmt::format("{} ({} to {}, {})", measured_text(name, value.median),
                     measured_text(name, value.low), measured_text(name, value.high),
                     counted(value.repetitions, "repetition"));
}

std::string band_sentence(const BandCheck& check) {
  const std::string& name = check.band.value;
  const std::string band =
      fmt::format("at {} {:g} of the baseline's", gate::less_is_better(name) ? "most" : "least",
                  check.band.ratio);
  const std::string both =
      fmt::format("{} to {}", range_text(name, check.baseline), range_text(name, check.candidate));
  if (check.verdict == Verdict::not_worse) return fmt::format("PASS: {}, {}", both, band);
  if (check.verdict == Verdict::worse) {
    return fmt::format("WORSE: {}, and {} is asked for", both, band);
  }
  switch (check.doubt) {
    case BandDoubt::other_machine:
      return "CANNOT DECIDE: the two were timed on different machines";
    case BandDoubt::few_repetitions:
      return fmt::format("CANNOT DECIDE: {} and {}, and at least {} are asked for",
                         counted(check.baseline.repetitions, "repetition"),
                         check.candidate.repetitions, check.band.minimum_repetitions);
    default:
      return fmt::format("CANNOT DECIDE: {}; {} is asked for, and the repetitions overlap", both,
                         band);
  }
}

GateCheck band_check(const BandCheck& band) {
  GateCheck check;
  check.state = state_of(band.verdict);
  check.cell = band.cell;
  check.value = band.band.value;
  check.rule = "ratio";
  check.baseline = measured_text(check.value, band.baseline.median);
  check.candidate = measured_text(check.value, band.candidate.median);
  check.change = fmt::format("× {:.3f}", band.ratio);
  check.sentence = band_sentence(band);
  check.differs = true;
  return check;
}

GateCheck limit_check(const LimitCheck& limit) {
  const std::string& name = limit.limit.value;
  const Shown shown(name);
  const bool measured = gate::is_measured(name);
  const auto text = [&](double value) {
    return measured ? measured_text(name, value / gate::measured_scale(name))
                    : fmt::format("{:.{}f}", value, shown.decimals);
  };
  GateCheck check;
  check.state = state_of(limit.verdict);
  check.cell = limit.cell;
  check.value = name;
  check.rule =
      fmt::format("at {} {}", limit.limit.at_least ? "least" : "most", text(limit.limit.bound));
  check.candidate = text(limit.value);
  check.sentence =
      fmt::format("{}: {}, and {} is asked for", limit.verdict == Verdict::worse ? "WORSE" : "PASS",
                  check.candidate, check.rule);
  if (!limit.score.empty()) check.sentence += " (" + limit.score + ")";
  check.differs = limit.verdict == Verdict::worse;
  return check;
}

GateCheck missing_check(const std::string& cell, const std::string& reason) {
  GateCheck check;
  check.state = CheckState::incomplete;
  check.cell = cell;
  check.sentence = "NOT COMPARED: " + reason;
  check.differs = true;
  return check;
}

/// Examples of the baseline that the candidate lacks.
std::string lacking(const Comparison& comparison) {
  constexpr size_t kNamed = 3;
  const auto& names = comparison.only_a;
  const size_t named = std::min(names.size(), kNamed);
  return fmt::format("the candidate lacks {} ({}{})", counted(names.size(), "example"),
                     fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(named), ", "),
                     named < names.size() ? ", …" : "");
}

/// "51 % (13–96)"
std::string percent(const std::optional<compare::Estimate>& share) {
  const compare::Estimate known = share.value_or(compare::Estimate());
  const std::string text = fmt::format("{:.0f} %", 100 * known.value);
  const auto bound = [](double value) { return fmt::format("{:.0f}", 100 * value); };
  if (bound(known.low) == bound(known.high)) return text;  // at the margin it is the level
  return fmt::format("{} ({}–{})", text, bound(known.low), bound(known.high));
}

std::string power_line(const ComparedColumn& column, const std::vector<double>& points,
                       const std::string& cell) {
  const compare::Decision& decision = *column.decision;
  const Shown shown(column.name);
  std::string text =
      fmt::format("power of {} (margin {}): ", column.name, shown.value(decision.margin.size));
  for (const double drop : points) {
    text += fmt::format("a drop of {:g} is found with {}, ", drop,
                        percent(decision.power(drop / shown.scale)));
  }
  const auto detectable = decision.detectable_loss();
  text += detectable ? fmt::format("one of {} ({}–{}) with 80 %", shown.value(detectable->value),
                                   shown.value(detectable->low), shown.value(detectable->high))
                     : std::string("none with 80 %");
  if (decision.margin.rule == compare::Rule::non_inferior) {
    text += fmt::format("; equal results pass with {}", percent(decision.power_of_equal()));
  }
  return text + fmt::format("; least of all on {}, {} of {}", cell,
                            counted(decision.examples, "example"),
                            counted(decision.clusters, "document"));
}

}  // namespace

std::vector<GateCheck> gate_checks(const gate::Outcome& outcome) {
  std::vector<GateCheck> checks;
  for (const Comparison& comparison : outcome.quality.comparisons) {
    if (!comparison.only_a.empty() && !outcome.quality.skip_missing) {
      checks.push_back(missing_check(comparison.cell, lacking(comparison)));
      checks.back().value = comparison.metric;
    }
    for (const ComparedColumn& column : comparison.columns) {
      if (column.decision) checks.push_back(quality_check(comparison, column));
    }
  }
  for (const BandCheck& band : outcome.bands) checks.push_back(band_check(band));
  for (const LimitCheck& limit : outcome.limits) checks.push_back(limit_check(limit));
  for (const compare::NotCompared& cell : outcome.quality.missing) {
    checks.push_back(missing_check(cell.name, cell.reason));
  }
  if (outcome.quality.lost_metric) {
    for (const std::string& metric : outcome.quality.metrics) {
      checks.push_back(missing_check("every cell", metric));
    }
  }
  if (checks.empty()) checks.push_back(missing_check("every cell", "there is nothing to compare"));
  std::ranges::stable_sort(checks, {}, &GateCheck::state);
  return checks;
}

std::string closing_line(const gate::Outcome& outcome, const std::vector<GateCheck>& checks) {
  std::map<CheckState, size_t> counts;
  for (const GateCheck& check : checks) ++counts[check.state];
  std::vector<std::string> parts;
  const auto add = [&](CheckState state, const char* words) {
    if (counts[state] > 0) parts.push_back(fmt::format("{} {}", counts[state], words));
  };
  add(CheckState::worse, "worse");
  add(CheckState::incomplete, "not compared");
  add(CheckState::cannot_decide, "cannot be decided");
  add(CheckState::not_worse, "not worse");
  const char* word = "PASS";
  switch (outcome.conclusion()) {
    case gate::Conclusion::worse:
      word = "WORSE";
      break;
    case gate::Conclusion::incomplete:
      word = "INCOMPLETE";
      break;
    case gate::Conclusion::cannot_decide:
      word = "CANNOT DECIDE";
      break;
    case gate::Conclusion::pass:
      break;
  }
  return fmt::format("gate: {}: {} of {}", word, fmt::join(parts, ", "),
                     counted(checks.size(), "check"));
}

std::vector<std::string> power_lines(const gate::Outcome& outcome) {
  struct Widest {
    const ComparedColumn* column;
    const std::string* cell;
  };
  std::map<std::string, Widest> widest;
  int64_t tests = 0;
  int64_t unchanged = 0;
  for (const Comparison& comparison : outcome.quality.comparisons) {
    for (const ComparedColumn& column : comparison.columns) {
      if (!column.decision) continue;
      const compare::Decision& decision = *column.decision;
      if (decision.unchanged) {
        ++unchanged;
        continue;
      }
      tests = std::max(tests, decision.tests);
      if (!decision.power(0)) continue;
      const auto [place, added] =
          widest.try_emplace(column.name, Widest{&column, &comparison.cell});
      if (!added && decision.standard_error > place->second.column->decision->standard_error) {
        place->second = {&column, &comparison.cell};
      }
    }
  }
  std::vector<std::string> lines;
  if (tests == 0 && unchanged > 0) {
    lines.emplace_back("no score changed, so no test was needed and there were no false alarms");
  }
  if (tests == 0) return lines;
  lines.push_back(fmt::format(
      "false alarms: in at most {:g} % of gates on equal results (one-sided, Holm over {})",
      100 * outcome.level, counted(tests, "test")));
  if (widest.empty()) {
    lines.emplace_back("power: differences do not vary, so nothing says what is found how often");
  }
  for (const auto& [name, where] : widest) {
    lines.push_back(power_line(*where.column, outcome.power_at, *where.cell));
  }
  if (!widest.empty()) {
    lines.emplace_back(
        "in parentheses: 95 % intervals, since so many documents know their own spread no better");
  }
  return lines;
}

std::string_view to_string(CheckState state) {
  switch (state) {
    case CheckState::worse:
      return "worse";
    case CheckState::incomplete:
      return "incomplete";
    case CheckState::cannot_decide:
      return "cannot_decide";
    case CheckState::not_worse:
      break;
  }
  return "not_worse";
}

}  // namespace qfs::cli
