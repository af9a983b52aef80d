#include "harness/api/metric.h"

#include "harness/api/metric_columns.h"

namespace qfs {

Better Metric::better(std::string_view column) const {
  return is_share(column) ? Better::higher : Better::unknown;
}

std::string_view Metric::note(const ScoreItem&) const { return {}; }

std::string Metric::tool_signature(size_t, size_t) const { return {}; }

void Metric::values_from_means(std::span<double>) const {}

std::vector<Score> Metric::aggregate(std::span<const Statistics> items) const {
  const std::vector<std::string> names = columns();
  std::vector<double> means(names.size(), 0);
  for (const Statistics& item : items) {
    for (size_t i = 0; i < means.size(); ++i) means[i] += item[i];
  }
  if (!items.empty()) {
    for (double& mean : means) mean /= static_cast<double>(items.size());
    values_from_means(means);
  }
  std::vector<Score> scores;
  for (size_t i = 0; i < means.size(); ++i) scores.push_back({names[i], means[i]});
  return scores;
}

}  // namespace qfs
