#include "harness/compare/uncompared.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace qfs::compare {
namespace {

using Jobs = std::span<const store::ScoreJobRow>;

std::set<std::string> signatures_of(Jobs jobs, const std::string& metric) {
  std::set<std::string> signatures;
  for (const store::ScoreJobRow& job : jobs) {
    if (job.metric == metric) signatures.insert(job.signature);
  }
  return signatures;
}

std::string listed(const std::set<std::string>& signatures) {
  return fmt::format("'{}'", fmt::join(signatures, "', '"));
}

}  // namespace

std::vector<UncomparedMetric> uncompared_metrics(Jobs a, Jobs b,
                                                 std::span<const std::string> declared) {
  std::vector<std::string> names(declared.begin(), declared.end());
  for (Jobs jobs : {a, b}) {
    for (const store::ScoreJobRow& job : jobs) names.push_back(job.metric);
  }
  std::set<std::string> seen;
  std::vector<UncomparedMetric> uncompared;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) continue;
    const std::set<std::string> of_a = signatures_of(a, name);
    const std::set<std::string> of_b = signatures_of(b, name);
    const bool shared = std::ranges::any_of(of_a, [&](const auto& s) { return of_b.contains(s); });
    if (shared) continue;
    std::string reason = fmt::format("metric '{}' is not compared: ", name);
    if (of_a.empty() && of_b.empty()) {
      reason +=
          "neither A nor B has a score by it; 'qfs-bench score' adds them, with --allow-external "
          "where the metric is a program of the sweep";
    } else if (of_a.empty() || of_b.empty()) {
      reason += fmt::format("{} has a score by it, {} has none; 'qfs-bench score' adds it",
                            of_a.empty() ? "B" : "A", of_a.empty() ? "A" : "B");
    } else {
      reason += fmt::format("A has it as {}, B as {}", listed(of_a), listed(of_b));
    }
    uncompared.push_back({name, std::move(reason), !of_a.empty()});
  }
  return uncompared;
}

}  // namespace qfs::compare
