#include "harness/cli/decision_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/core/counted.h"

namespace qfs::cli {
namespace {

using compare::ComparedColumn;
using compare::Decision;
using compare::Doubt;
using compare::Rule;
using compare::Verdict;
using nlohmann::json;

/// "p = 0.0123", "p < 0.0001", with the adjustment where there is one.
std::string tested_text(const Decision& decision) {
  std::string text = decision.p() < 0.00005 ? "p < 0.0001" : "p = " + p_text(decision.p());
  if (decision.tests > 1) text += fmt::format(", Holm over {} tests", decision.tests);
  return text + (decision.bootstrap ? ", paired bootstrap" : "");
}

std::string needed_text(const Decision& decision, const std::string& unit, const char* verb) {
  if (decision.clusters_needed == 0) return "";
  return fmt::format("; {}{} {}", decision.doubt == Doubt::too_few_clusters ? "" : "about ",
                     counted(decision.clusters_needed, unit), verb);
}

std::string doubt_text(const ComparedColumn& column, const std::string& unit, const char* loss) {
  const Decision& decision = *column.decision;
  const Shown shown(column.name);
  switch (decision.doubt) {
    case Doubt::too_few_clusters:
      if (decision.clusters_needed == 0) {
        return fmt::format(
            "{} at once are too many for any p to be below {}; compare fewer cells "
            "or columns",
            counted(decision.tests, "test"), decision.level);
      }
      if (decision.too_few_to_draw()) {
        return fmt::format(
            "the paired bootstrap of a corpus value needs at least {}, and there {} {}",
            counted(decision.clusters_needed, unit), decision.clusters == 1 ? "is" : "are",
            decision.clusters);
      }
      return fmt::format(
          "with {} no one-sided p can be below {}{}, and {} is asked for{}",
          counted(decision.clusters, unit), p_text(decision.least_p),
          decision.tests > 1 ? fmt::format(" (Holm over {} tests)", decision.tests) : "",
          decision.level, needed_text(decision, unit, "would do"));
    case Doubt::nothing_to_lose:
      return fmt::format(
          "A has {}, which is no more than the margin of {}, so that any B would pass; choose a "
          "smaller margin",
          shown.points(column.a), shown.value(decision.margin.size));
    case Doubt::may_be_chance:
      if (decision.margin.rule == Rule::max_drop) {
        return fmt::format("the {} of {} is beyond {} but may be chance ({}){}", loss,
                           shown.points(decision.loss), shown.value(decision.margin.size),
                           tested_text(decision), needed_text(decision, unit, "would show it"));
      }
      return fmt::format("that the {} is less than {} may be chance ({}){}", loss,
                         shown.points(decision.margin.size), tested_text(decision),
                         needed_text(decision, unit, "would show it"));
    case Doubt::beyond_margin:
      return fmt::format("the {} of {} is not less than {}", loss, shown.points(decision.loss),
                         shown.value(decision.margin.size));
    case Doubt::below_minimum:
      return fmt::format("{}, and at least {} are asked for",
                         counted(decision.examples, "example was", "examples were") + " compared",
                         decision.minimum_examples);
    case Doubt::none:
      break;
  }
  return "";
}

}  // namespace

std::string Shown::value(double value) const {
  return fmt::format("{:.{}f}", value * scale, decimals);
}

std::string Shown::change(double value) const {
  return fmt::format("{:+.{}f}", value * scale, decimals);
}

std::string Shown::points(double value) const { return this->value(value) + " points"; }

std::string Shown::interval(const metrics::Interval& interval) const {
  if (!interval.available()) return metrics::unavailable_interval_text(interval.clusters);
  return fmt::format("[{}, {}]", change(interval.low), change(interval.high));
}

std::string p_text(double p) { return p < 0.00005 ? "<0.0001" : fmt::format("{:.4f}", p); }

std::string decision_text(const ComparedColumn& column, const std::string& unit) {
  const Decision& decision = *column.decision;
  const char* const loss = column.better == Better::lower ? "rise" : "drop";
  const std::string margin = Shown(column.name).points(decision.margin.size);
  std::string text;
  switch (decision.verdict) {
    case Verdict::worse:
      text += fmt::format("WORSE: the {} is beyond {} ({})", loss, margin, tested_text(decision));
      break;
    case Verdict::cannot_decide:
      text += "CANNOT DECIDE: " + doubt_text(column, unit, loss);
      break;
    case Verdict::not_worse:
      text += decision.margin.rule == Rule::max_drop
                  ? fmt::format("PASS: no significant {} beyond {} ({})", loss, margin,
                                tested_text(decision))
                  : fmt::format("PASS: the {} is less than {} ({})", loss, margin,
                                tested_text(decision));
  }
  return text;
}

nlohmann::json decision_json(const Decision& decision, double scale) {
  json object = {{"rule", to_string(decision.margin.rule)},
                 {"verdict", to_string(decision.verdict)},
                 {"margin_points", decision.margin.size * scale},
                 {"loss_points", decision.loss * scale},
                 {"p_worse", decision.p_worse},
                 {"p_worse_holm", decision.p_worse_holm},
                 {"p_not_worse", decision.p_not_worse},
                 {"p_not_worse_holm", decision.p_not_worse_holm},
                 {"test", decision.bootstrap ? "paired bootstrap" : "paired randomisation"},
                 {"tests", decision.tests},
                 {"least_p", decision.least_p}};
  if (decision.doubt != Doubt::none) object["doubt"] = to_string(decision.doubt);
  if (decision.clusters_needed > 0) object["clusters_needed"] = decision.clusters_needed;
  if (decision.least) object["loss_points_at_least"] = *decision.least * scale;
  if (decision.most) object["loss_points_at_most"] = *decision.most * scale;
  return object;
}

nlohmann::json better_json(Better better) {
  switch (better) {
    case Better::higher:
      return "higher";
    case Better::lower:
      return "lower";
    case Better::neither:
      return "neither";
    case Better::unknown:
      break;
  }
  return nullptr;
}

nlohmann::json not_compared_json(const std::vector<compare::NotCompared>& cells) {
  nlohmann::json list = nlohmann::json::array();
  for (const compare::NotCompared& cell : cells) {
    list.push_back({{"cell", cell.name}, {"reason", cell.reason}});
  }
  return list;
}

}  // namespace qfs::cli
