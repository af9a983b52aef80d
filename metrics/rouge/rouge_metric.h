// RougeMetric: ROUGE as a qfs::Metric, one row of twelve values an item.
//
// Called by scoring through the metric catalogue as "rouge" or "rouge:stem=off". Stateless and
// thread-safe: each measure() call has its own vocabulary. An item without references, an
// ill-formed text or one over kMaxRougeTokens is an error that names the item.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"
#include "metrics/rouge/rouge_scorer.h"

namespace qfs::metrics {

class RougeMetric final : public Metric {
 public:
  explicit RougeMetric(RougeOptions options = {}) : options_(options) {}

  std::string_view name() const override { return options_.stem ? "rouge" : "rouge:stem=off"; }
  std::string_view doc() const override;
  /// rouge1.p rouge1.r rouge1.f rouge2.* rougeL.* rougeLsum.*
  std::vector<std::string> columns() const override;
  std::string signature() const override { return rouge_signature(options_); }
  MetricNeeds needs() const override { return {}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override;

 private:
  RougeOptions options_;
};

}  // namespace qfs::metrics
