// CorpusMetric: a metric whose corpus value is made of the sums of its columns over the items and
// is no mean of the items' values: BLEU, chrF.
//
// Implemented by metrics/sacrebleu; scoring's bootstrap resamples the sums. The counts are columns
// of their own, named as is_statistic says. Stateless and thread-safe as every metric.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/api/metric.h"
#include "harness/api/metric_columns.h"

namespace qfs {

class CorpusMetric : public Metric {
 public:
  /// Turns the sums of the columns over `items` items (at least 1) into their corpus values, in
  /// place; a statistic's value is its mean.
  virtual void values_from_sums(std::span<double> sums, double items) const = 0;
  std::string_view tool() const override { return "sacreBLEU"; }
  Better better(std::string_view column) const override {
    return is_statistic(column) ? Better::neither : Better::higher;
  }

  std::vector<Score> aggregate(std::span<const Statistics> items) const override {
    const std::vector<std::string> names = columns();
    std::vector<double> sums(names.size(), 0);
    for (const Statistics& item : items) {
      for (size_t c = 0; c < sums.size(); ++c) sums[c] += item[c];
    }
    if (!items.empty()) values_from_sums(sums, static_cast<double>(items.size()));
    std::vector<Score> scores;
    for (size_t c = 0; c < sums.size(); ++c) scores.push_back({names[c], sums[c]});
    return scores;
  }
};

}  // namespace qfs
