// LongBenchMetric: the summarization score of LongBench (metrics.py, rouge_score and
// rouge_zh_score).
//
// Called by scoring through the catalogue as "longbench". ROUGE-L F of the package rouge 1.0.1, for
// Chinese over jieba's words, the best of all answers. LongBench catches every exception of the
// package and scores 0; here an empty text scores 0 by the option `empty`, and the other exception,
// Python's recursion limit on a sentence pair of about a thousand words, does not exist: such a
// pair gets its score. Stateless and thread-safe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"
#include "metrics/set_rouge/set_rouge_metric.h"

namespace qfs::metrics {

class LongBenchMetric final : public Metric {
 public:
  LongBenchMetric(std::string name, std::shared_ptr<const Segmenter> segmenter, EmptyText empty)
      : name_(std::move(name)),
        options_{SetRougePackage::pltrdy_1_0_1, empty, std::move(segmenter)} {}

  std::string_view name() const override { return name_; }
  std::string_view doc() const override;
  std::vector<std::string> columns() const override { return {"rougeL.f"}; }
  std::string signature() const override;
  MetricNeeds needs() const override { return {}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override;
  /// Chinese that is scored as English.
  std::string_view note(const ScoreItem& item) const override;

 private:
  std::string name_;
  SetRougeOptions options_;
};

}  // namespace qfs::metrics
