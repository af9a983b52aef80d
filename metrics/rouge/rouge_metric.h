// RougeMetric: ROUGE as a qfs::Metric, one row of twelve values an item.
//
// Called by scoring through the metric catalogue as "rouge" with options. Stateless and
// thread-safe: each measure() call has its own vocabulary. An item without references, an
// ill-formed text or one over kMaxLcsCells is an error that names the item.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"
#include "metrics/rouge/multi_reference.h"
#include "metrics/rouge/rouge_scorer.h"
#include "metrics/text/script_check.h"

namespace qfs::metrics {

inline constexpr const char* kDefaultSplit = "newline";
inline constexpr const char* kDefaultNltk = "3.10";

/// How items become the corpus value.
enum class RougeAggregate {
  mean,
  /// The median of the means of 1000 resamples of the items, seeded: what rouge_score's
  /// BootstrapAggregator prints as "mid", there with another random generator and no seed.
  bootstrap_median,
};

struct RougeMetricOptions {
  RougeOptions scorer;
  MultiPolicy multi;
  RougeAggregate aggregate = RougeAggregate::mean;
  bool geometric_mean = false;  ///< a column more: the geometric mean of the F of R-1, R-2 and R-L
};

class RougeMetric final : public Metric {
 public:
  explicit RougeMetric(RougeOptions options = {}) : RougeMetric(RougeMetricOptions{options}) {}
  explicit RougeMetric(const RougeMetricOptions& options);

  std::string_view name() const override { return name_; }
  std::string_view doc() const override;
  /// rouge1.p rouge1.r rouge1.f rouge2.* rougeL.* rougeLsum.*, then geometric_mean.f if asked for
  std::vector<std::string> columns() const override;
  std::string signature() const override;
  MetricNeeds needs() const override { return {}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override;
  void values_from_means(std::span<double> means) const override;
  std::vector<Score> aggregate(std::span<const Statistics> items) const override;
  std::string_view note(const ScoreItem& item) const override { return ascii_words_note(item); }

 private:
  RougeMetricOptions options_;
  std::string name_;
};

}  // namespace qfs::metrics
