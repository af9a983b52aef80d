#include "harness/api/metric.h"

namespace qfs {

std::vector<Score> Metric::aggregate(std::span<const Statistics> items) const {
  std::vector<Score> scores;
  for (const std::string& column : columns()) scores.push_back({column, 0});
  if (items.empty()) return scores;
  for (const Statistics& item : items) {
    for (size_t i = 0; i < scores.size(); ++i) scores[i].value += item[i];
  }
  for (Score& score : scores) score.value /= static_cast<double>(items.size());
  return scores;
}

}  // namespace qfs
