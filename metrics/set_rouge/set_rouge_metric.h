// SetRougeMetric: the packages rouge 1.0.1 (pltrdy) and rouge-chinese 1.0.3 as metrics.
//
// Called by scoring through the catalogue as "pltrdy-rouge" and "rouge-chinese". Per item the
// values of get_scores(avg=False), and the mean over items those of avg=True, which sums in the
// same order. The packages know one reference; of several, each ROUGE takes the one with the
// highest F. Stateless and thread-safe. Errors as RougeMetric's, and for empty texts as the option
// says.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"
#include "metrics/chinese/segmenter.h"
#include "metrics/set_rouge/empty_text.h"
#include "metrics/set_rouge/set_rouge.h"

namespace qfs::metrics {

struct SetRougeOptions {
  SetRougePackage package = SetRougePackage::pltrdy_1_0_1;
  EmptyText empty = EmptyText::error;
  /// Texts are its words joined by spaces; null: texts as they are.
  std::shared_ptr<const Segmenter> segmenter;
};

class SetRougeMetric final : public Metric {
 public:
  /// `name`: with the options that are not defaults.
  SetRougeMetric(std::string name, SetRougeOptions options)
      : name_(std::move(name)), options_(std::move(options)) {}

  std::string_view name() const override { return name_; }
  std::string_view doc() const override;
  /// rouge1.p rouge1.r rouge1.f rouge2.* rougeL.*
  std::vector<std::string> columns() const override;
  std::string signature() const override;
  MetricNeeds needs() const override { return {}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override;
  /// Unsegmented Chinese, which the packages take for a few very long words.
  std::string_view note(const ScoreItem& item) const override;

 private:
  std::string name_;
  SetRougeOptions options_;
};

/// One candidate against several references, the best of each ROUGE. Shared with LongBenchMetric.
Result<SetRougeScores> best_set_rouge(SetRouge& scorer, const ScoreItem& item,
                                      const SetRougeOptions& options);

}  // namespace qfs::metrics
