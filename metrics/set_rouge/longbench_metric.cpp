#include "metrics/set_rouge/longbench_metric.h"

#include "metrics/text/script_check.h"

namespace qfs::metrics {

std::string_view LongBenchMetric::doc() const {
  return "LongBench's summarization score: ROUGE-L F of the package rouge 1.0.1, best answer";
}

std::string LongBenchMetric::signature() const {
  return "longbench|" + SetRougeMetric(name_, options_).signature();
}

std::string_view LongBenchMetric::note(const ScoreItem& item) const {
  if (options_.segmenter != nullptr || !any_text(item, looks_unsegmented)) return {};
  return "the text is Chinese without spaces; LongBench scores it by jieba's words: language=zh";
}

Result<std::vector<Statistics>> LongBenchMetric::measure(std::span<const ScoreItem> items) const {
  const SetRougeMetric rouge(name_, options_);
  Result<std::vector<Statistics>> rows = rouge.measure(items);
  if (!rows) return rows;
  const size_t f_of_l = rouge.columns().size() - 1;
  for (Statistics& row : *rows) row = {row[f_of_l]};
  return rows;
}

}  // namespace qfs::metrics
