#include "harness/compare/decision.h"

#include <algorithm>
#include <vector>

#include "metrics/stats/bootstrap.h"
#include "metrics/stats/power.h"
#include "metrics/stats/randomization.h"

namespace qfs::compare {
namespace {

using metrics::Alternative;

/// The smallest p that any data on these clusters could have, before it is adjusted.
double least_p(const Decision& decision) {
  if (!decision.bootstrap) return metrics::least_p(decision.clusters, Alternative::less);
  if (decision.too_few_to_draw()) return 1;
  return 1 / (static_cast<double>(metrics::BootstrapOptions().resamples) + 1);
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

void judge(Decision& decision) {
  // What Holm's smallest p of the command has to be below.
  const double level = kLevel / static_cast<double>(decision.tests);
  const double beyond = decision.loss - decision.margin.size;
  constexpr double kRounding = 1e-12;
  decision.verdict = Verdict::not_worse;
  if (decision.p_worse_holm < kLevel) {
    decision.verdict = Verdict::worse;
  } else if (decision.nothing_to_lose) {
    doubt(decision, Doubt::nothing_to_lose, 0);
  } else if (least_p(decision) >= level) {
    doubt(decision, Doubt::too_few_clusters, clusters_that_could_show(decision, level));
  } else if (decision.margin.rule == Rule::non_inferior) {
    if (decision.p_not_worse_holm < kLevel) return;
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

bool Decision::too_few_to_draw() const { return bootstrap && clusters < metrics::kMinimumClusters; }

void decide(std::span<Decision* const> decisions) {
  std::vector<double> worse;
  std::vector<double> not_worse;
  for (const Decision* decision : decisions) {
    worse.push_back(decision->p_worse);
    not_worse.push_back(decision->p_not_worse);
  }
  worse = metrics::holm_adjusted(worse);
  not_worse = metrics::holm_adjusted(not_worse);
  for (size_t i = 0; i < decisions.size(); ++i) {
    Decision& decision = *decisions[i];
    decision.p_worse_holm = worse[i];
    decision.p_not_worse_holm = not_worse[i];
    decision.tests = static_cast<int64_t>(decisions.size());
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
  }
  return "none";
}

}  // namespace qfs::compare
