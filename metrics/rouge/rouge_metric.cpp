#include "metrics/rouge/rouge_metric.h"

#include "metrics/text/scored_texts.h"

namespace qfs::metrics {
namespace {

void append(Statistics& row, const Prf& prf) {
  row.insert(row.end(), {prf.precision, prf.recall, prf.f});
}

}  // namespace

std::string_view RougeMetric::doc() const {
  return "ROUGE-1, -2, -L and summary-level -L, equal to rouge_score 0.1.2 digit for digit";
}

std::vector<std::string> RougeMetric::columns() const {
  std::vector<std::string> columns;
  for (std::string variant : {"rouge1", "rouge2", "rougeL", "rougeLsum"}) {
    for (std::string_view value : {".p", ".r", ".f"})
      columns.push_back(variant + std::string(value));
  }
  return columns;
}

Result<std::vector<Statistics>> RougeMetric::measure(std::span<const ScoreItem> items) const {
  RougeScorer scorer(options_);
  std::vector<Statistics> rows;
  rows.reserve(items.size());
  for (const ScoreItem& item : items) {
    if (Status status = check_texts(item, "rouge"); !status.ok()) return status.error();
    Result<RougeScores> scores = scorer.score_multi(item.references, item.candidate);
    if (!scores.ok()) {
      Error error = scores.error();
      error.where = item_name(item);
      return error;
    }
    Statistics row;
    for (const Prf& prf : {scores->rouge1, scores->rouge2, scores->rougeL, scores->rougeLsum}) {
      append(row, prf);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace qfs::metrics
