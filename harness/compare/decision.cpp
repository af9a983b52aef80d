#include "harness/compare/decision.h"

#include <algorithm>
#include <vector>

#include "metrics/stats/bootstrap.h"
#include "metrics/stats/power.h"
#include "metrics/stats/randomization.h"

namespace qfs::compare {
namespace {

using metrics::Alternative;

constexpr double kRounding = 1e-12;

/// The smallest p that any data on these clusters could have, before it is adjusted.
double least_p(const Decision& decision) {
  if (!decision.bootstrap) return metrics::least_p(decision.clusters, Alternative::less);
  if (decision.too_few_to_draw()) return 1;
  return 1 / (static_cast<double>(metrics::BootstrapOptions().resamples) + 1);
}

/// What Holm's smallest p of the family has to be below.
double level_of_one(const Decision& decision) {
  return decision.level / static_cast<double>(decision.tests);
}

int64_t clusters_that_could_show(const Decision& decision, double level) {
  const int64_t fewest = metrics::clusters_for_p(level, Alternative::less);
  return fewest > 0 && decision.bootstrap ? metrics::kMinimumClusters : fewest;
}

/// As clusters_to_show, of `gap` between the loss and the margin, after the adjustment.
int64_t clusters_that_would_show(const Decision& decision, double gap, double level) {
  return std::max(
      clusters_that_could_show(decision, level),
      metrics::clusters_to_show(decision.clusters, decision.standard_error, gap, level));
}

void doubt(Decision& decision, Doubt why, int64_t clusters_needed) {
  decision.verdict = Verdict::cannot_decide;
  decision.doubt = why;
  decision.clusters_needed = clusters_needed;
}

/// Whether any data on these clusters could be significant.
bool could_show(const Decision& decision) { return least_p(decision) < level_of_one(decision); }

/// Of a loss that lies this far from the margin.
std::optional<Estimate> chance_to_show(const Decision& decision, double gap) {
  if (decision.standard_error <= kRounding) return std::nullopt;
  if (!could_show(decision)) return Estimate();
  const auto chance = [&](double standard_error) {
    return metrics::power_to_show(decision.clusters, standard_error, gap, level_of_one(decision));
  };
  const auto [least, most] =
      metrics::standard_error_bounds(decision.clusters, decision.standard_error);
  const auto [low, high] = std::minmax({chance(least), chance(most)});
  return Estimate{chance(decision.standard_error), low, high};
}

void judge(Decision& decision) {
  const double level = level_of_one(decision);
  const double beyond = decision.loss - decision.margin.size;
  decision.verdict = Verdict::not_worse;
  if (decision.examples < decision.minimum_examples) {
    doubt(decision, Doubt::below_minimum, 0);
  } else if (decision.p_worse_holm < decision.level) {
    decision.verdict = Verdict::worse;
  } else if (decision.nothing_to_lose) {
    doubt(decision, Doubt::nothing_to_lose, 0);
  } else if (decision.unchanged) {
    return;
  } else if (!could_show(decision)) {
    doubt(decision, Doubt::too_few_clusters, clusters_that_could_show(decision, level));
  } else if (decision.margin.rule == Rule::non_inferior) {
    if (decision.p_not_worse_holm < decision.level) return;
    if (beyond >= -kRounding) {
      doubt(decision, Doubt::beyond_margin, 0);
    } else {
      doubt(decision, Doubt::may_be_chance, clusters_that_would_show(decision, -beyond, level));
    }
  } else if (beyond > kRounding) {
    doubt(decision, Doubt::may_be_chance, clusters_that_would_show(decision, beyond, level));
  }
}

}  // namespace

double Decision::p() const {
  const bool claims_less = margin.rule == Rule::non_inferior && verdict != Verdict::worse;
  return claims_less ? p_not_worse_holm : p_worse_holm;
}

std::optional<Estimate> Decision::power(double loss) const {
  return chance_to_show(*this, loss - margin.size);
}

std::optional<Estimate> Decision::power_of_equal() const {
  return chance_to_show(*this, margin.size);
}

std::optional<Estimate> Decision::detectable_loss() const {
  if (standard_error <= kRounding || !could_show(*this)) return std::nullopt;
  const auto gap = metrics::gap_to_show(clusters, standard_error, level_of_one(*this));
  if (!gap) return std::nullopt;
  // A gap is a number of standard errors.
  const auto [least, most] = metrics::standard_error_bounds(clusters, standard_error);
  return Estimate{margin.size + *gap, margin.size + *gap * least / standard_error,
                  margin.size + *gap * most / standard_error};
}

bool Decision::too_few_to_draw() const { return bootstrap && clusters < metrics::kMinimumClusters; }

void decide(std::span<Decision* const> decisions) {
  // Which scores did not change is the same however clusters are exchanged: what is left is a
  // family.
  std::vector<Decision*> family;
  std::vector<double> worse;
  std::vector<double> not_worse;
  for (Decision* decision : decisions) {
    if (decision->unchanged) continue;
    family.push_back(decision);
    worse.push_back(decision->p_worse);
    not_worse.push_back(decision->p_not_worse);
  }
  worse = metrics::holm_adjusted(worse);
  not_worse = metrics::holm_adjusted(not_worse);
  for (size_t i = 0; i < family.size(); ++i) {
    family[i]->p_worse_holm = worse[i];
    family[i]->p_not_worse_holm = not_worse[i];
  }
  for (Decision* each : decisions) {
    Decision& decision = *each;
    decision.tests = std::max<int64_t>(1, static_cast<int64_t>(family.size()));
    decision.least_p = std::min(1.0, least_p(decision) * static_cast<double>(decision.tests));
    judge(decision);
  }
}

std::string_view to_string(Rule rule) {
  return rule == Rule::max_drop ? "max_drop" : "non_inferior";
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::not_worse:
      return "not_worse";
    case Verdict::worse:
      return "worse";
    case Verdict::cannot_decide:
      return "cannot_decide";
  }
  return "cannot_decide";
}

std::string_view to_string(Doubt doubt) {
  switch (doubt) {
    case Doubt::none:
      return "none";
    case Doubt::too_few_clusters:
      return "too_few_clusters";
    case Doubt::nothing_to_lose:
      return "nothing_to_lose";
    case Doubt::may_be_chance:
      return "may_be_chance";
    case Doubt::beyond_margin:
      return "beyond_margin";
    case Doubt::below_minimum:
      return "below_minimum";
  }
  return "none";
}

}  // namespace qfs::compare
