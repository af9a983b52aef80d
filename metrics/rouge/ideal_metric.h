// IdealMetric: ROUGE as the released notebook of IDEAL scores SQuALITY: of all (prediction,
// reference) pairs of a group the one with the highest ROUGE-L F, whose other values go with it.
//
// Called through the catalogue as "ideal". The rows of one question share a group, each with its
// own prediction and references; an item that is alone in its group is scored by its best
// reference. Before scoring, <pad>, <s> and </s> are deleted from predictions, in this order. Lsum
// has the sentences of Punkt (split_summaries=True). Stateless, thread-safe; errors as RougeMetric.
// Source: IDEAL_Summary, evaluate.py and its SQuALITY notebook.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/metric.h"
#include "metrics/punkt/sentence_split.h"
#include "metrics/text/script_check.h"

namespace qfs::metrics {

inline constexpr const char* kIdealSplit = "punkt";
inline constexpr const char* kIdealNltk = "3.9";  ///< before 3.10, as IDEAL and SQuALITY

class IdealMetric final : public Metric {
 public:
  IdealMetric(SentenceSplit split, bool strip);

  std::string_view name() const override { return name_; }
  std::string_view doc() const override;
  /// The twelve columns of rouge, then `chosen`: 1 for the row that stands for its group. The other
  /// rows of the group hold zeros.
  std::vector<std::string> columns() const override;
  std::string signature() const override;
  MetricNeeds needs() const override { return {.corpus = true}; }
  Result<std::vector<Statistics>> measure(std::span<const ScoreItem> items) const override;
  std::string_view note(const ScoreItem& item) const override { return ascii_words_note(item); }
  /// Means over groups instead of rows; `chosen` stays the share of rows that stand for a group.
  void values_from_means(std::span<double> means) const override;

 private:
  SentenceSplit split_;
  bool strip_;
  std::string name_;
};

}  // namespace qfs::metrics
