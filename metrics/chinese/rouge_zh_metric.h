// RougeZhMetric: ROUGE-1, -2, -L and summary-level -L over the words of a segmenter.
//
// Called by scoring through the metric catalogue as "rouge-zh". The counting is that of
// metrics/rouge (rouge_score 0.1.2); only what a word and a sentence is differs, and the signature
// says it. Stateless and thread-safe. An item without references, an ill-formed text, one over
// kMaxLcsCells or a segmenter without its dictionary is an error.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"
#include "metrics/chinese/segmenter.h"
#include "metrics/chinese/zh_text.h"

namespace qfs::metrics {

class RougeZhMetric final : public Metric {
 public:
  /// `name`: with the options that are not defaults.
  RougeZhMetric(std::string name, std::shared_ptr<const Segmenter> segmenter, ZhTextOptions options)
      : name_(std::move(name)), segmenter_(std::move(segmenter)), options_(options) {}

  std::string_view name() const override { return name_; }
  std::string_view doc() const override;
  /// rouge1.p rouge1.r rouge1.f rouge2.* rougeL.* rougeLsum.*
  std::vector<std::string> columns() const override;
  std::string signature() const override;
  MetricNeeds needs() const override { return {}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override;
  /// Unsegmented Chinese for the segmenter that expects spaces.
  std::string_view note(const ScoreItem& item) const override;

 private:
  std::string name_;
  std::shared_ptr<const Segmenter> segmenter_;
  ZhTextOptions options_;
};

}  // namespace qfs::metrics
